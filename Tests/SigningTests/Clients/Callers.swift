import Signing
import SigningKit

/// Test clients and their credentials.
enum Callers {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static let shop = ClientToken.mint()
    static let shopNext = ClientToken.mint()
    static let shopOld = ClientToken.mint()
    static let game = ClientToken.mint()
    static let stranger = ClientToken.mint()

    static let shopKey = Digest256(of: "the shop's SubjectPublicKeyInfo")
    static let otherKey = Digest256(of: "another SubjectPublicKeyInfo")

    static let settings = GatewaySettings(
        accounts: [],
        clients: [
            ClientSettings(
                name: "shop",
                tokens: [
                    TokenSettings(digest: shop.digest),
                    TokenSettings(digest: shopNext.digest, expires: Timestamp(milliseconds: now.milliseconds + 1)),
                    TokenSettings(digest: shopOld.digest, expires: now),
                ],
                certificates: [
                    .fingerprint(shopKey), .dnsName("Shop.example.com"), .uri("spiffe://example.com/shop"),
                ],
                uids: [1001, 1002]),
            ClientSettings(
                name: "game", tokens: [TokenSettings(digest: game.digest)],
                certificates: [.dnsName("game.example.com")],
                uids: [2001]),
        ])

    static func certificate(
        _ fingerprint: Digest256 = otherKey, dns: [String] = [], uris: [String] = []
    ) -> CertificateFacts {
        CertificateFacts(fingerprint: fingerprint, dnsNames: dns, uris: uris)
    }
}

/// The credentials of a connection and a request.
struct CallerCredentials {
    var bearerToken: String?
    var certificate: CertificateFacts?
    var uid: UInt32?
}
