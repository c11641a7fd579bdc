import GatewayConfiguration
import Testing

@Suite("Changes between two configurations")
struct ChangeTests {
    @Test("a configuration does not differ from itself, nor from one that says the same in another order")
    func none() throws {
        for text in [Examples.network, Examples.full, Examples.least, Examples.token] {
            #expect(try lines(text, text) == [])
        }
        let moved = Examples.network("[1001, 0]", "[0, 1001]").replacing("connections: 100", with: "connections:  100")
        #expect(try lines(Examples.network, "# a comment\n" + moved) == [])
        let allow = "[{apps: [\"*\"], features: [\"*\"]}]"
        let two = Examples.network(allow, "[{apps: [\"*\"], features: [\"*\"]}, {apps: [\"c*\"], features: [\"*\"]}]")
        let swapped = Examples.network(
            allow, "[{apps: [\"c*\"], features: [\"*\"]}, {apps: [\"*\"], features: [\"*\"]}]")
        #expect(try lines(two, swapped) == [])
    }

    @Test(
        "one difference is one sentence",
        arguments: [
            ("perSecond: 0.5", "perSecond: 50", "clients[shop].rate.perSecond: changes from 0.5 to 50."),
            (
                "    rate: {perSecond: 0.5, burst: 100}\n", "",
                "clients[shop].rate: is removed; it was {perSecond: 0.5, burst: 100}."
            ),
            ("dailyQuota: 100000", "dailyQuota: 5", "clients[shop].dailyQuota: changes from 100000 to 5."),
            ("    dailyQuota: 100000\n", "", "clients[shop].dailyQuota: is removed; it was 100000."),
            ("    administrator: true\n", "", "clients[shop].administrator: is removed; it was true."),
            (
                "expires: 2027-01-01T00:00:00Z", "expires: 2028-01-01T00:00:00Z",
                "clients[shop].tokens[1a2b3c4d].expires: changes from 2027-01-01T00:00:00Z to 2028-01-01T00:00:00Z."
            ),
            (
                "      - {sha256: 5e6f7a8b00000000000000000000000000000000000000000000000000000000}\n", "",
                "clients[shop].tokens[5e6f7a8b]: is removed."
            ),
            (
                "      - dnsName: Shop.example.com\n", "",
                "clients[shop].certificates[dnsName:shop.example.com]: is removed."
            ),
            ("[1001, 0]", "[1001, 0, 7]", "clients[shop].uids[7]: is added."),
            (
                "products: [\"com.example.*\"]", "products: [\"com.*\"]",
                "clients[shop].allow[0]: changes from {apps: [com.example.app], features: [promotional-offer], products: "
                    + "[com.example.*], offers: [*], keyIds: [2X9R4HXF34]} to {apps: [com.example.app], features: "
                    + "[promotional-offer], products: [com.*], offers: [*], keyIds: [2X9R4HXF34]}."
            ),
            (
                "features: [\"*\"]}]", "features: [\"*\"]}, {apps: [com.example.app], features: [\"p*\"]}]",
                "clients[2nd.shop_of-many].allow[1]: is added as {apps: [com.example.app], features: [p*]}."
            ),
            (
                "  - name: 2nd.shop_of-many\n    uids: [1002]\n    allow: [{apps: [\"*\"], features: [\"*\"]}]\n", "",
                "clients[2nd.shop_of-many]: is removed; it was {uids: [1002], allow: [0: {apps: [*], features: [*]}]}."
            ),
            (
                "0.0.0.0:8443", "0.0.0.0:443",
                "listeners.public.address: changes from 0.0.0.0:8443 to 0.0.0.0:443, which needs a restart."
            ),
            (
                "mode: \"0660\"", "mode: \"0600\"",
                "listeners.admin.mode: changes from 0660 to 0600, which needs a restart."
            ),
            (
                ", owner: \"privyseal:www-data\"", "",
                "listeners.admin.owner: is removed; it was privyseal:www-data, which needs a restart."
            ),
            (
                "  metrics: {address: \"127.0.0.1:9464\"}\n", "",
                "listeners.metrics: is removed; it was {address: 127.0.0.1:9464, protocol: http, behindProxy: false}, which needs a restart."
            ),
            (
                "tls/cert.pem", "tls/new.pem",
                "listeners.public.tls.certificate: changes from /etc/privyseal/tls/cert.pem to /etc/privyseal/tls/new.pem."
            ),
            (
                "minimumVersion: \"1.3\"", "minimumVersion: \"1.2\"",
                "listeners.public.tls.minimumVersion: changes from 1.3 to 1.2."
            ),
            ("connections: 100", "connections: 101", "limits.connections: changes from 100 to 101."),
            ("requestTimeout: 11", "requestTimeout: 12", "limits.requestTimeout: changes from 11 s to 12 s."),
            ("sampling: 0.1", "sampling: 1", "tracing.sampling: changes from 0.1 to 1, which needs a restart."),
            (
                "accounts:", "logging: {format: json}\naccounts:",
                "logging.format: changes from text to json, which needs a restart."
            ),
            ("accounts:", "logging: {level: debug}\naccounts:", "logging.level: changes from info to debug."),
            ("accounts:", "verification: off\naccounts:", "verification: changes from always to off."),
            (
                "accounts:", "validation: {advancedCommerce: envelope}\naccounts:",
                "validation.advancedCommerce: changes from full to envelope."
            ),
            ("accounts:", "drainDelay: 9\naccounts:", "drainDelay: changes from 1 s to 9 s, which needs a restart."),
            (
                "accounts:", "shutdownGracePeriod: 9\naccounts:",
                "shutdownGracePeriod: changes from 30 s to 9 s, which needs a restart."
            ),
            (
                "accounts:", "backends: {pkcs11: {sessions: 9}}\naccounts:",
                "backends.pkcs11.sessions: changes from 4 to 9."
            ),
            (
                "accounts:", "backends: {file: {allowSharedFiles: true}}\naccounts:",
                "backends.file.allowSharedFiles: changes from false to true."
            ),
            (
                "features: [promotional-offer]\n    keys",
                "features: [promotional-offer, advanced-commerce-api]\n    keys",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].apps[com.example.app].features: changes from "
                    + "[promotional-offer] to [promotional-offer, advanced-commerce-api]."
            ),
            (
                "AuthKey.p8", "Other.p8",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].keys[2X9R4HXF34].uri: changes from "
                    + "file:/etc/privyseal/AuthKey.p8 to file:/etc/privyseal/Other.p8."
            ),
            (
                "AuthKey.p8", "AuthKey.p8?passphrase-source=file:/run/sesame4711",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].keys[2X9R4HXF34].uri: changes in a part that is not shown."
            ),
        ] as [(String, String, String)])
    func one(_ text: String, _ replacement: String, _ sentence: String) throws {
        #expect(try lines(Examples.network, Examples.network(text, replacement)) == [sentence])
    }

    @Test("tls, tracing and anonymous callers come and go")
    func wholes() throws {
        let tls = "listeners: {public: {tls: {certificate: /c, key: /k}}}\n"
        let tracing = "tracing: {endpoint: \"http://localhost:1/t\"}\n"
        #expect(
            try lines(Examples.least, "anonymous: true\n" + tls + tracing + Examples.least) == [
                "anonymous: changes from false to true.",
                "listeners.public.protocol: changes from http to https, which needs a restart.",
                "listeners.public.tls: is added as {certificate: /c, key: /k, minimumVersion: 1.2, clientCertificates: none}.",
                "tracing: is added as {endpoint: http://localhost:1/t, sampling: 1, serviceName: privyseal}, which needs a restart.",
            ])
    }

    @Test("a change has its kind and both texts, and they come sorted by path")
    func parts() throws {
        let changes = try changes(Examples.network, Examples.least)
        #expect(changes.map(\.path) == changes.map(\.path).sorted())
        #expect(Set(changes.map(\.kind)) == [.removed, .changed])
        let address = try #require(changes.first { $0.path == "listeners.public.address" })
        #expect(address.old == "0.0.0.0:8443")
        #expect(address.new == "127.0.0.1:8080")
        #expect(address.needsRestart)
        #expect(
            changes.filter(\.needsRestart).map(\.path) == [
                "listeners.admin", "listeners.metrics", "listeners.public.address", "listeners.public.protocol",
                "tracing",
            ])
        #expect(try self.changes(Examples.least, Examples.network).map(\.path) == changes.map(\.path))
    }

    @Test("two accounts with one issuer ID are two things")
    func sharedIssuer() throws {
        let text = Examples.full.replacing(
            "69a6de70-03db-47e3-e053-5b8c7c11a4d1", with: "57246542-96fe-1a63-e053-0824d011072a")
        #expect(
            try lines(text, text.replacing("org.example.third", with: "org.example.fourth")) == [
                "accounts[57246542-96fe-1a63-e053-0824d011072a].apps[org.example.fourth]: is added as {features: "
                    + "[promotional-offer]}.",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].apps[org.example.third]: is removed; it was {features: "
                    + "[promotional-offer]}.",
            ])
    }

    @Test("neither a digest nor what leads to a secret is in a change, and none is endless")
    func silence() throws {
        let secret = Examples.token.replacing("/run/secrets/appstore-pin", with: "/run/sesame4711")
        let digest = String(repeating: "0", count: 16)
        for change in try changes(Examples.network, secret) + changes(secret, Examples.network) {
            #expect(!change.description.contains("sesame4711"))
            #expect(!change.description.contains(digest))
            #expect(change.description.count < 1000)
        }
    }

    private func changes(_ old: String, _ new: String) throws -> [ConfigurationChange] {
        try configuration(new).changes(from: configuration(old))
    }

    private func lines(_ old: String, _ new: String) throws -> [String] {
        try changes(old, new).map(\.description)
    }
}
