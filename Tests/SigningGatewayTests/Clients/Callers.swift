import SigningGateway
import SigningKit

/// Clients for tests, and what they show.
enum Callers {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static let shop = ClientToken.mint()
    static let shopNext = ClientToken.mint()
    static let shopOld = ClientToken.mint()
    static let game = ClientToken.mint()
    static let stranger = ClientToken.mint()

    static let shopKey = Digest256(of: "the shop's SubjectPublicKeyInfo")
    static let otherKey = Digest256(of: "another SubjectPublicKeyInfo")

    static let plan = GatewayPlan(
        accounts: [],
        clients: [
            ClientPlan(
                name: "shop",
                tokens: [
                    TokenPlan(digest: shop.digest),
                    TokenPlan(digest: shopNext.digest, expires: Timestamp(milliseconds: now.milliseconds + 1)),
                    TokenPlan(digest: shopOld.digest, expires: now),
                ],
                certificates: [
                    .fingerprint(shopKey), .dnsName("Shop.example.com"), .uri("spiffe://example.com/shop"),
                ],
                uids: [1001, 1002]),
            ClientPlan(
                name: "game", tokens: [TokenPlan(digest: game.digest)], certificates: [.dnsName("game.example.com")],
                uids: [2001]),
        ])

    static func certificate(
        _ fingerprint: Digest256 = otherKey, dns: [String] = [], uris: [String] = []
    ) -> CertificateFacts {
        CertificateFacts(fingerprint: fingerprint, dnsNames: dns, uris: uris)
    }
}
