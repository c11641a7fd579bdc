import Signing
import SigningKit
import Testing

@Suite("Identification of callers")
struct IdentificationTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let evidence: CallerCredentials
        /// The client's name, or the reason why there is none.
        let expected: Result<String, UnauthenticatedReason>

        init(
            _ name: String, token: String? = nil, certificate: CertificateFacts? = nil, uid: UInt32? = nil,
            is client: String
        ) {
            (testDescription, expected) = (name, .success(client))
            evidence = CallerCredentials(bearerToken: token, certificate: certificate, uid: uid)
        }

        init(
            _ name: String, token: String? = nil, certificate: CertificateFacts? = nil, uid: UInt32? = nil,
            fails reason: UnauthenticatedReason
        ) {
            (testDescription, expected) = (name, .failure(reason))
            evidence = CallerCredentials(bearerToken: token, certificate: certificate, uid: uid)
        }
    }

    @Test(
        "Each caller is the client that its credentials prove, or none",
        arguments: tokens + certificates + uids + together)
    func identification(_ caller: Case) {
        #expect(Self.identify(caller.evidence, in: ClientDirectory(Callers.settings)) == caller.expected)
    }

    @Test(
        "Anonymous access applies only to callers without valid credentials",
        arguments: tokens + certificates + uids + together)
    func anonymous(_ caller: Case) {
        var settings = Callers.settings
        settings.allowsAnonymous = true
        let expected = caller.expected == .failure(.nobody) ? .success("anonymous") : caller.expected
        #expect(Self.identify(caller.evidence, in: ClientDirectory(settings)) == expected)
    }

    @Test("Each reason of a failed identification has a description of its own")
    func descriptions() {
        let reasons: [UnauthenticatedReason] = [
            .nobody, .malformedToken(.checksum), .malformedToken(.length(3)), .unknownToken, .certificateOutOfDate,
            .expiredToken(client: "shop"), .twoClients("shop", "game"),
        ]
        #expect(Set(reasons.map(\.description)).count == reasons.count)
    }

    @Test("The refusal of an expired token takes as long as that of an unknown one")
    func refusalTime() {
        let directory = ClientDirectory(Callers.settings)
        let expired = CallerCredentials(bearerToken: Callers.shopOld.text)
        let unknown = CallerCredentials(bearerToken: ClientToken.mint().text)
        var fastest = (expired: Duration.seconds(60), unknown: Duration.seconds(60))
        // Alternating, and the fastest of many: other load on the machine only makes a measurement slower.
        for _ in 0..<100 {
            fastest.expired = min(fastest.expired, Self.time(expired, directory))
            fastest.unknown = min(fastest.unknown, Self.time(unknown, directory))
        }
        #expect(fastest.expired * 5 > fastest.unknown * 4, "\(fastest)")
        #expect(fastest.unknown * 5 > fastest.expired * 4, "\(fastest)")
    }

    private static func time(_ evidence: CallerCredentials, _ directory: ClientDirectory) -> Duration {
        ContinuousClock().measure { for _ in 0..<20 { _ = identify(evidence, in: directory) } }
    }

    @Test("Credentials that two clients share identify neither")
    func sharedByMistake() {
        var settings = Callers.settings
        settings.clients[1].tokens.append(TokenSettings(digest: Callers.shop.digest))
        settings.clients[1].certificates.append(.fingerprint(Callers.shopKey))
        settings.clients[1].uids.append(1001)
        let directory = ClientDirectory(settings)
        for evidence in [
            CallerCredentials(bearerToken: Callers.shop.text), CallerCredentials(uid: 1001),
            CallerCredentials(certificate: Callers.certificate(Callers.shopKey)),
        ] {
            #expect(Self.identify(evidence, in: directory) == .failure(.twoClients("shop", "game")))
        }
        #expect(Self.identify(CallerCredentials(bearerToken: Callers.shopNext.text), in: directory) == .success("shop"))
    }

    @Test("A token that is listed twice is valid until the later expiry")
    func twice() {
        let (early, late) = (Timestamp(milliseconds: 1), Timestamp(milliseconds: .max))
        for expiries in [[early, late], [late, early], [early, nil], [nil, early], [nil, nil]] {
            let tokens = expiries.map { TokenSettings(digest: Callers.shop.digest, expires: $0) }
            let directory = ClientDirectory(
                GatewaySettings(accounts: [], clients: [ClientSettings(name: "c", tokens: tokens)]))
            #expect(Self.identify(CallerCredentials(bearerToken: Callers.shop.text), in: directory) == .success("c"))
        }
    }

    @Test("Each of 500 tokens identifies its own client")
    func manyTokens() {
        let tokens = (0..<500).map { _ in ClientToken.mint() }
        let clients = tokens.enumerated().map { index, token in
            ClientSettings(name: "c\(index)", tokens: [TokenSettings(digest: token.digest)])
        }
        let directory = ClientDirectory(GatewaySettings(accounts: [], clients: clients))
        for (index, token) in tokens.enumerated() {
            #expect(Self.identify(CallerCredentials(bearerToken: token.text), in: directory) == .success("c\(index)"))
        }
        let none = ClientDirectory(GatewaySettings(accounts: []))
        #expect(Self.identify(CallerCredentials(bearerToken: tokens[0].text), in: none) == .failure(.unknownToken))
    }

    // MARK: Cases

    private static let shop = Callers.shop.text
    private static let wrongLetter = String(shop.dropLast()) + (shop.hasSuffix("A") ? "B" : "A")

    static let tokens = [
        Case("nothing", fails: .nobody),
        Case("a token", token: shop, is: "shop"),
        Case("the next token of the same client, not expired yet", token: Callers.shopNext.text, is: "shop"),
        Case("a token at the moment it expires", token: Callers.shopOld.text, fails: .expiredToken(client: "shop")),
        Case("another client's token", token: Callers.game.text, is: "game"),
        Case("a token that nobody has", token: Callers.stranger.text, fails: .unknownToken),
        Case("an empty token", token: "", fails: .malformedToken(.notAToken)),
        Case("a token cut short", token: String(shop.dropLast()), fails: .malformedToken(.length(59))),
        Case("a token with a space", token: shop + " ", fails: .malformedToken(.length(61))),
        Case("a token with a wrong letter", token: wrongLetter, fails: .malformedToken(.checksum)),
        Case("a token in capitals", token: shop.uppercased(), fails: .malformedToken(.notAToken)),
        Case("a token's digest", token: Callers.shop.digest.description, fails: .malformedToken(.notAToken)),
        Case("60 other bytes", token: String(repeating: "é", count: 30), fails: .malformedToken(.notAToken)),
        Case(
            "a token of a megabyte", token: String(repeating: "a", count: 1 << 20), fails: .malformedToken(.notAToken)),
    ]

    static let certificates = [
        Case("the right key", certificate: Callers.certificate(Callers.shopKey), is: "shop"),
        Case("another key", certificate: Callers.certificate(), fails: .nobody),
        Case("a DNS name in another case", certificate: Callers.certificate(dns: ["sHOP.EXAMPLE.com"]), is: "shop"),
        Case(
            "a DNS name among others", certificate: Callers.certificate(dns: ["a.b", "shop.example.com"]), is: "shop"),
        Case("a host below", certificate: Callers.certificate(dns: ["a.shop.example.com"]), fails: .nobody),
        Case("a wildcard", certificate: Callers.certificate(dns: ["*.example.com"]), fails: .nobody),
        Case("a URI", certificate: Callers.certificate(uris: ["spiffe://example.com/shop"]), is: "shop"),
        Case(
            "a URI in another case", certificate: Callers.certificate(uris: ["spiffe://example.com/Shop"]),
            fails: .nobody),
        Case(
            "a URI that goes on", certificate: Callers.certificate(uris: ["spiffe://example.com/shop/"]), fails: .nobody
        ),
        Case(
            "a URI as a DNS name", certificate: Callers.certificate(dns: ["spiffe://example.com/shop"]), fails: .nobody),
        Case(
            "names of two clients", certificate: Callers.certificate(dns: ["shop.example.com", "game.example.com"]),
            fails: .twoClients("shop", "game")),
        Case(
            "the key of one and the name of another",
            certificate: Callers.certificate(Callers.shopKey, dns: ["game.example.com"]),
            fails: .twoClients("shop", "game")),
    ]

    static let uids = [
        Case("a uid", uid: 1002, is: "shop"),
        Case("another uid", uid: 1003, fails: .nobody),
        Case("the uid of root", uid: 0, fails: .nobody),
    ]

    static let together = [
        Case(
            "three proofs of one client", token: shop, certificate: Callers.certificate(Callers.shopKey), uid: 1001,
            is: "shop"),
        Case(
            "a token, and a certificate and a uid of nobody", token: shop, certificate: Callers.certificate(), uid: 7,
            is: "shop"),
        Case("a token and another's uid", token: shop, uid: 2001, fails: .twoClients("shop", "game")),
        Case(
            "a token and another's certificate", token: shop,
            certificate: Callers.certificate(dns: ["game.example.com"]),
            fails: .twoClients("shop", "game")),
        Case(
            "a certificate and another's uid", certificate: Callers.certificate(Callers.shopKey), uid: 2001,
            fails: .twoClients("shop", "game")),
        Case(
            "a wrong token and a right certificate", token: Callers.stranger.text,
            certificate: Callers.certificate(Callers.shopKey), uid: 1001, fails: .unknownToken),
        Case(
            "an expired token and a right uid", token: Callers.shopOld.text, uid: 1001,
            fails: .expiredToken(client: "shop")),
        Case("an empty token and a right uid", token: "", uid: 1001, fails: .malformedToken(.notAToken)),
    ]

    static func identify(
        _ evidence: CallerCredentials, in directory: ClientDirectory
    ) -> Result<String, UnauthenticatedReason> {
        do throws(UnauthenticatedReason) {
            let client = try directory.identify(
                bearerToken: evidence.bearerToken, certificate: evidence.certificate, uid: evidence.uid,
                at: Callers.now)
            return .success(client.name)
        } catch {
            return .failure(error)
        }
    }
}
