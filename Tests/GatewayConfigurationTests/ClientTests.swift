import GatewayConfiguration
import Signing
import SigningKit
import Testing

@Suite("Clients and their rules in the configuration")
struct ClientTests {
    @Test("the reader keeps every client setting with its origin")
    func everySetting() throws {
        let configuration = try configuration(Examples.network)
        #expect(configuration.warnings == [])
        #expect(configuration.clients.map(\.name) == ["shop", "2nd.shop_of-many"])
        let client = configuration.clients[0]
        #expect(client.isAdministrator)
        #expect(client.origin == "gateway.yaml:13: clients[0]")
        #expect(client.tokens.map(\.name) == ["1a2b3c4d", "5e6f7a8b"])
        #expect(client.tokens[0].digest == Digest256("1a2b3c4d" + String(repeating: "0", count: 56)))
        #expect(client.tokens[0].expires?.milliseconds == 1_798_761_600_000)
        #expect(client.tokens[1].expires == nil)
        #expect(
            client.certificates.map(\.description) == [
                "sha256:2f0e1d3c4b5a69788796a5b4c3d2e1f02f0e1d3c4b5a69788796a5b4c3d2e1f0", "dnsName:shop.example.com",
                "uri:spiffe://example.com/shop",
            ])
        #expect(client.uids == [1001, 0])
        #expect(client.rate?.perSecond == 0.5)
        #expect(client.rate?.burst == 100)
        #expect(client.dailyQuota == 100_000)
        let rule = client.rules[0]
        #expect(rule.apps.map(\.text) == ["com.example.app"])
        #expect(rule.features.map(\.text) == ["promotional-offer"])
        #expect(rule.products.map(\.text) == ["com.example.*"])
        #expect(rule.offers.map(\.text) == ["*"])
        #expect(rule.keyIDs.map(\.text) == ["2X9R4HXF34"])
        #expect(client.rules[1].products.isEmpty)
        #expect(client.rules[1].origin == "gateway.yaml:30: clients[0].allow[1]")
        let other = configuration.clients[1]
        #expect(!other.isAdministrator)
        #expect(other.tokens.isEmpty)
        #expect(other.rate == nil)
        #expect(other.dailyQuota == nil)
    }

    @Test(
        "the reader reports each invalid client setting with its origin and cure",
        arguments: [
            (
                "- name: shop", "- {}\n  - name: shop",
                [
                    "gateway.yaml:13: clients[0].name: is missing; give the client's name in logs and metrics, such "
                        + "as shop.",
                    "gateway.yaml:13: clients[0]: has no credentials; give it tokens, certificates, identities or uids.",
                ]
            ),
            ("name: shop", "name: Shop", [Self.name]), ("name: shop", "name: -shop", [Self.name]),
            ("name: shop", "name: \"\"", [Self.name]), ("name: shop", "name: shöp", [Self.name]),
            ("name: shop", "name: " + String(repeating: "a", count: 64), [Self.name]),
            ("name: shop", "name: anonymous", [Self.reserved]), ("name: shop", "name: operator", [Self.reserved]),
            (
                "name: 2nd.shop_of-many", "name: shop",
                [
                    "gateway.yaml:34: clients[1].name: gives the client name \"shop\" that is already given at gateway.yaml:13: "
                        + "clients[0].name; give it only once."
                ]
            ),
            (
                "uids: [1002]", "uids: [1001]",
                [
                    "gateway.yaml:35: clients[1].uids[0]: gives the uid 1001 that is already given at gateway.yaml:23: "
                        + "clients[0].uids[0]; give it only once."
                ]
            ),
            (
                "uids: [1002]",
                "tokens: [{sha256: \"1A2B3C4D00000000000000000000000000000000000000000000000000000000\"}]",
                [
                    "gateway.yaml:35: clients[1].tokens[0].sha256: gives the token digest 1a2b3c4d… that is already given at "
                        + "gateway.yaml:16: clients[0].tokens[0].sha256; give it only once."
                ]
            ),
            (
                "uids: [1002]", "certificates: [{dnsName: shop.EXAMPLE.com}]",
                [
                    "gateway.yaml:35: clients[1].certificates[0].dnsName: gives the certificate \"dnsName:shop.example.com\" that "
                        + "is already given at gateway.yaml:21: clients[0].certificates[1].dnsName; give it only once."
                ]
            ),
            (
                "uids: [1002]", "uids: [4294967295]",
                [
                    "gateway.yaml:35: clients[1].uids[0]: is 4294967295; it must be from 0 to 4294967294."
                ]
            ),
            (
                "uids: [1002]", "uids: [www-data]",
                [
                    "gateway.yaml:35: clients[1].uids[0]: must be a whole number, but is text; write it in decimal digits, "
                        + "without quotes or a unit."
                ]
            ),
            (
                "uids: [1002]", "uids: []",
                [
                    "gateway.yaml:35: clients[1].uids: is an empty list; give at least one uid."
                ]
            ),
            (
                "    uids: [1002]\n", "",
                [
                    "gateway.yaml:34: clients[1]: has no credentials; give it tokens, certificates, identities or uids."
                ]
            ),
            (
                "uids: [1002]", "uid: [1002]",
                [
                    "gateway.yaml:35: clients[1].uid: is not a known key; did you mean uids? The keys are name, "
                        + "administrator, tokens, certificates, identities, uids, allow, rate, dailyQuota."
                ]
            ),
            (
                "uids: [1002]", "tokens: [{expires: 2027-01-01T00:00:00Z}]",
                [
                    "gateway.yaml:35: clients[1].tokens[0].sha256: is missing; give the 64 hexadecimal digits of the token's "
                        + "SHA-256, which privyseal clients mint shows."
                ]
            ),
            (
                "uids: [1002]", "tokens: [{sha256: abc}]",
                [
                    "gateway.yaml:35: clients[1].tokens[0].sha256: is not a SHA-256; it must be 64 hexadecimal digits, which "
                        + "privyseal clients mint shows with the token."
                ]
            ),
            (
                "uids: [1002]", "tokens: [{sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}]",
                [
                    "gateway.yaml:35: clients[1].tokens[0].sha256: is the SHA-256 of an empty token; use the one that "
                        + "privyseal clients mint shows."
                ]
            ),
            (
                "expires: 2027-01-01T00:00:00Z", "expires: 2027-01-01",
                [
                    "gateway.yaml:17: clients[0].tokens[0].expires: is not a time; write the date, time and zone, "
                        + "such as 2027-01-01T00:00:00Z."
                ]
            ),
            (
                "- dnsName: Shop.example.com", "- {dnsName: a.example, uri: b:c}",
                [
                    "gateway.yaml:21: clients[0].certificates[1]: identifies a certificate in several ways; give "
                        + "exactly one of fingerprint, dnsName and uri in each element of the list."
                ]
            ),
            (
                "- dnsName: Shop.example.com", "- {}",
                [
                    "gateway.yaml:21: clients[0].certificates[1]: does not identify a certificate; give exactly one of "
                        + "fingerprint, dnsName and uri in each element of the list."
                ]
            ),
            (
                "- dnsName: Shop.example.com", "- dnsname: a.example",
                [
                    "gateway.yaml:21: clients[0].certificates[1].dnsname: is not a known key; did you mean dnsName? "
                        + "The keys are fingerprint, dnsName, uri."
                ]
            ),
            (
                "Shop.example.com", "\"*.example.com\"",
                [
                    "gateway.yaml:21: clients[0].certificates[1].dnsName: is not a DNS name; give the whole name that the "
                        + "certificate holds, such as shop.example.com, without a * and in its ASCII form."
                ]
            ),
            (
                "Shop.example.com", "192.168.1.1",
                [
                    "gateway.yaml:21: clients[0].certificates[1].dnsName: is not a DNS name; give the whole name that the "
                        + "certificate holds, such as shop.example.com, without a * and in its ASCII form."
                ]
            ),
            (
                "spiffe://example.com/shop", "example.com/shop",
                [
                    "gateway.yaml:22: clients[0].certificates[2].uri: is not a URI; give the one that the certificate holds, such "
                        + "as spiffe://example.com/shop."
                ]
            ),
            (
                "fingerprint: \"sha256:", "fingerprint: \"sha1:",
                [
                    "gateway.yaml:20: clients[0].certificates[0].fingerprint: is not a fingerprint; it must be sha256: and the 64 "
                        + "hexadecimal digits of the SHA-256 of the certificate's public key in DER."
                ]
            ),
            (
                "perSecond: 0.5", "perSecond: 0",
                [
                    "gateway.yaml:32: clients[0].rate.perSecond: is 0; it must be from 0.001 to 1000000."
                ]
            ),
            (
                "perSecond: 0.5", "perSecond: 5/s",
                [
                    "gateway.yaml:32: clients[0].rate.perSecond: must be a number, but is text; write it in decimal digits, such "
                        + "as 0.5, without quotes or a unit."
                ]
            ),
            (
                ", burst: 100", "",
                [
                    "gateway.yaml:32: clients[0].rate.burst: is missing; give the number of requests allowed at once, "
                        + "such as 100."
                ]
            ),
            (
                "burst: 100", "burst: 0.5",
                [
                    "gateway.yaml:32: clients[0].rate.burst: must be a whole number, but has a fraction; write it in decimal digits, "
                        + "without quotes or a unit."
                ]
            ),
            (
                "dailyQuota: 100000", "dailyQuota: 0",
                [
                    "gateway.yaml:33: clients[0].dailyQuota: is 0; it must be from 1 to 1000000000."
                ]
            ),
        ] as [(String, String, [String])])
    func refused(_ text: String, _ replacement: String, _ expected: [String]) {
        #expect(faults(in: Examples.network(text, replacement)) == expected)
    }

    static let name =
        "gateway.yaml:13: clients[0].name: must be 1 to 63 lower-case letters, digits, periods, hyphens and underscores, and "
        + "begin with a letter or a digit, such as shop."
    static let reserved =
        "gateway.yaml:13: clients[0].name: is reserved for callers that are not clients; give another name."

    @Test(
        "the reader reports each invalid rule with its origin and cure",
        arguments: [
            (
                "{apps: [\"*\"], features: [\"*\"]}", "{features: [\"*\"]}",
                [
                    "gateway.yaml:36: clients[1].allow[0].apps: is missing; give a list of bundle IDs, such as [com.example.app], "
                        + "or of patterns, such as [\"*\"]."
                ]
            ),
            (
                "{apps: [\"*\"], features: [\"*\"]}", "{apps: [\"*\"]}",
                [
                    "gateway.yaml:36: clients[1].allow[0].features: is missing; give a list of features, of "
                        + "legacy-promotional-offer, promotional-offer, introductory-offer-eligibility, advanced-commerce-api, or "
                        + "of patterns, such as [\"*\"]."
                ]
            ),
            (
                "{apps: [\"*\"], features: [\"*\"]}", "{apps: \"*\", features: [\"*\"]}",
                [
                    "gateway.yaml:36: clients[1].allow[0].apps: must be a list, but is text; begin each element with \"- \", or "
                        + "write [a, b]."
                ]
            ),
            (
                "features: [\"*\"]", "features: [promotional-ofer]",
                [
                    "gateway.yaml:36: clients[1].allow[0].features[0]: is \"promotional-ofer\", which is not known; did you mean "
                        + "promotional-offer? The choices are legacy-promotional-offer, promotional-offer, "
                        + "introductory-offer-eligibility, advanced-commerce-api."
                ]
            ),
            (
                "features: [\"*\"]", "features: [\"*\"], product: [a]",
                [
                    "gateway.yaml:36: clients[1].allow[0].product: is not a known key; did you mean products? The keys "
                        + "are apps, features, products, offers, keyIds, services, scopes, origins, subjects, maxLifetime."
                ]
            ),
            (
                "features: [\"*\"]", "features: [\"*\"], products: []",
                [
                    "gateway.yaml:36: clients[1].allow[0].products: is an empty list; give at least one product."
                ]
            ),
            (
                "features: [\"*\"]", "features: [\"*\"], offers: [a, a]",
                [
                    "gateway.yaml:36: clients[1].allow[0].offers[1]: gives the offer \"a\" that is already given at "
                        + "gateway.yaml:36: clients[1].allow[0].offers[0]; give it only once."
                ]
            ),
            (
                "features: [\"*\"]", "features: [\"*\"], keyIds: [\"a b\"]",
                [
                    "gateway.yaml:36: clients[1].allow[0].keyIds[0]: holds white space; remove it."
                ]
            ),
            (
                "allow: [{apps: [\"*\"], features: [\"*\"]}]", "allow: []",
                [
                    "gateway.yaml:36: clients[1].allow: is an empty list; give at least one rule."
                ]
            ),
        ] as [(String, String, [String])])
    func refusedRules(_ text: String, _ replacement: String, _ expected: [String]) {
        #expect(faults(in: Examples.network(text, replacement)) == expected)
    }

    @Test(
        "the reader warns about settings with no effect or a misleading one",
        arguments: [
            (
                "    allow: [{apps: [\"*\"], features: [\"*\"]}]\n", "",
                [
                    "gateway.yaml:34: clients[1]: may do nothing, because it has no allow and is not an "
                        + "administrator; give it allow, or remove it."
                ]
            ),
            (
                "expires: 2027-01-01T00:00:00Z", "expires: 2026-06-01T02:00:00+02:00",
                [
                    "gateway.yaml:16: clients[0].tokens[0]: expired at 2026-06-01T00:00:00Z and is no longer "
                        + "accepted; remove it."
                ]
            ),
            (
                "apps: [\"*\"]", "apps: [com.example.ap]",
                [
                    "gateway.yaml:36: clients[1].allow[0].apps[0]: matches no app under accounts; perhaps com.example.app is meant."
                ]
            ),
            (
                "apps: [\"*\"]", "apps: [\"org.*\", com.example.app]",
                [
                    "gateway.yaml:36: clients[1].allow[0].apps[0]: matches no app under accounts; check it."
                ]
            ),
            (
                "features: [\"*\"]", "features: [legacy-promotional-offer, promotional-offer]",
                [
                    "gateway.yaml:36: clients[1].allow[0].features[0]: matches no feature of the apps that this rule is for; check "
                        + "it."
                ]
            ),
            (
                "features: [\"*\"]", "features: [\"x*\"]",
                [
                    "gateway.yaml:36: clients[1].allow[0].features[0]: matches no feature of the apps that this rule is for; check "
                        + "it."
                ]
            ),
            (
                "keyIds: [2X9R4HXF34]", "keyIds: [2X9R4HXF35]",
                [
                    "gateway.yaml:29: clients[0].allow[0].keyIds[0]: matches no key under accounts; perhaps 2X9R4HXF34 is meant."
                ]
            ),
            (
                "      clientCertificates: optional\n      trustRoots: /etc/privyseal/tls/clients-ca.pem\n", "",
                [
                    "gateway.yaml:18: clients[0].certificates[0]: has no effect, as no listener asks for certificates; "
                        + "set clientCertificates in its tls, or remove it."
                ]
            ),
            (
                "unix:/run/privyseal/admin.sock\", mode: \"0660\", owner: \"privyseal:www-data\"", "127.0.0.1:1\"",
                [
                    "gateway.yaml:23: clients[0].uids[0]: has no effect, because no listener is a Unix socket; listen on "
                        + "one, or remove it.",
                    "gateway.yaml:35: clients[1].uids[0]: has no effect, because no listener is a Unix socket; listen on "
                        + "one, or remove it.",
                ]
            ),
        ] as [(String, String, [String])])
    func warnings(_ text: String, _ replacement: String, _ expected: [String]) throws {
        let configuration = try configuration(Examples.network(text, replacement))
        #expect(configuration.warnings.map(\.description) == expected)
    }

    @Test(
        "the reader limits thousands of warnings to the first fifty within a minute", .timeLimit(.minutes(1)))
    func manyWarnings() throws {
        let apps = (0..<3000).map { "com.example.ap\($0)" }.joined(separator: ", ")
        let warnings = try configuration(Examples.network("apps: [\"*\"]", "apps: [\(apps)]")).warnings.map(
            \.description)
        #expect(warnings.count == 51)
        #expect(warnings[0].hasSuffix("apps[0]: matches no app under accounts; perhaps com.example.app is meant."))
        #expect(warnings[50] == "gateway.yaml: … and 2950 more warnings.")
    }

    @Test(
        "the reader accepts 10,000 uids, tokens or certificates within a minute and refuses more",
        .timeLimit(.minutes(1)))
    func manyProofs() throws {
        let uids = (2000..<12_000).map(String.init).joined(separator: ", ")
        #expect(try configuration(Examples.network("[1001, 0]", "[\(uids)]")).clients[0].uids.count == 10_000)
        #expect(
            faults(in: Examples.network("[1001, 0]", "[\(uids), 0]")) == [
                "gateway.yaml:23: clients[0].uids: is a list of 10001 elements; at most 10000 are allowed."
            ])
        let names = (0..<10_000).map { "{dnsName: a\($0).example.com}" }.joined(separator: ", ")
        let text = Examples.network("    uids: [1002]", "    certificates: [\(names)]")
        #expect(try configuration(text).clients[1].certificates.count == 10_000)
    }

    @Test(
        "the reader compares thousands of patterns within a minute, or warns that it does not", .timeLimit(.minutes(1)))
    func manyPatterns() throws {
        let apps = (0..<3000).map { "      - {bundleId: a\($0), features: [promotional-offer]}\n" }.joined()
        let patterns = (0..<9000).map { "\"a\($0)*\"" }.joined(separator: ", ")
        let text = Examples.network("apps: [\"*\"]", "apps: [\(patterns)]").replacing(
            "      - bundleId: com.example.app\n", with: apps + "      - bundleId: com.example.app\n")
        #expect(
            try configuration(text).warnings.map(\.description).contains(
                "gateway.yaml:34: clients[1]: has so many patterns that they are not compared with the names under "
                    + "accounts; give exact names."))
    }

    @Test("the composed and the decomposed form of a bundle ID or pattern are two names")
    func unicodeForms() throws {
        let (composed, decomposed) = ("com.example.caf\u{E9}", "com.example.cafe\u{301}")
        let app = "      - bundleId: com.example.app\n        features: [promotional-offer]\n"
        let apps = [composed, decomposed].map { app.replacing("com.example.app", with: $0) }.joined()
        let text = Examples.network(app, app + apps).replacing(
            "apps: [\"*\"]", with: "apps: [\(composed), \(decomposed)]")
        let read = try configuration(text)
        #expect(
            read.accounts[0].apps.map { Array($0.bundleID.utf8) }
                == ["com.example.app", composed, decomposed].map { Array($0.utf8) })
        #expect(read.clients[1].rules[0].apps.count == 2)
        #expect(!read.warnings.contains { $0.description.contains("matches no app") })
        let one = text.replacing("apps: [\(composed), \(decomposed)]", with: "apps: [\(composed)]")
        let other = text.replacing("apps: [\(composed), \(decomposed)]", with: "apps: [\(decomposed)]")
        #expect(try configuration(one).changes(from: configuration(other)).count == 1)
        let twice = Examples.network(app, app + apps).replacing(
            "apps: [\"*\"]", with: "apps: [\(composed), \(composed)]")
        #expect(faults(in: twice).count == 1)
    }

    @Test("the reader warns that anonymous access makes the rules of clients ineffective")
    func anonymous() throws {
        let clients =
            "clients: [{name: a, administrator: true, tokens: [{sha256: \"\(String(repeating: "ab", count: 32))\"}]}]\n"
        let text = "anonymous: true\n" + clients + Examples.least
        #expect(
            try configuration(text).warnings.map(\.description) == [
                "gateway.yaml:1: anonymous: allows every caller everything, so the rules of clients have no effect; "
                    + "check it."
            ])
    }
}
