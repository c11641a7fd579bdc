import GatewayConfiguration
import Testing

@Suite("Changes between two configurations")
struct ChangeTests {
    @Test("an equivalent configuration has no changes")
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
        "each difference is one sentence",
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
            ("accounts:", "proofInterval: 9\naccounts:", "proofInterval: changes from 10 s to 9 s."),
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
                "    activeKey: 2X9R4HXF34\n", "    activeKey: 2X9R4HXF34\n    proposalLifetime: 60\n",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].proposalLifetime: changes from 86400 s to 60 s."
            ),
            (
                "AuthKey.p8\n", "AuthKey.p8\n        cryptoperiod: 365\n",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].keys[2X9R4HXF34].cryptoperiod: changes from 730 d to 365 d."
            ),
            (
                "AuthKey.p8\n", "AuthKey.p8\n        provenance: generated\n",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].keys[2X9R4HXF34].provenance: is added as generated."
            ),
            ("accounts:", "drills: {directory: /d}\naccounts:", "drills: is added as {directory: /d}."),
            (
                "AuthKey.p8", "AuthKey.p8?passphrase-source=file:/run/sesame4711",
                "accounts[57246542-96fe-1a63-e053-0824d011072a].keys[2X9R4HXF34].uri: changes in a part that is not shown: a secret, "
                    + "or the content of a file."
            ),
        ] as [(String, String, String)])
    func one(_ text: String, _ replacement: String, _ sentence: String) throws {
        #expect(try lines(Examples.network, Examples.network(text, replacement)) == [sentence])
    }

    @Test("tls, tracing and anonymous access can be added and removed")
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

    @Test(
        "every change of the audit log needs a restart",
        arguments: [
            (
                "audit.db\n", "other.db\n",
                "audit.database: changes from /var/lib/privyseal/audit.db to /var/lib/privyseal/other.db"
            ),
            ("/audit.key", "/b.key", "audit.key: changes from /etc/privyseal/audit.key to /etc/privyseal/b.key"),
            (
                "shop-1", "shop-2",
                "audit.origin: changes from example.com/privyseal/shop-1 to example.com/privyseal/shop-2"
            ),
            (
                "  origin: example.com/privyseal/shop-1\n", "",
                "audit.origin: is removed; it was example.com/privyseal/shop-1"
            ),
            ("writeTimeout: 3", "writeTimeout: 4", "audit.writeTimeout: changes from 3 s to 4 s"),
            ("reserve: 512", "reserve: 1", "audit.reserve: changes from 512 MiB to 1 MiB"),
            ("interval: 30", "interval: 31", "audit.checkpoints.interval: changes from 30 s to 31 s"),
            (
                "/mnt/worm/privyseal", "/mnt/w",
                "audit.checkpoints.file: changes from /mnt/worm/privyseal.checkpoints to /mnt/w.checkpoints"
            ),
            ("output: syslog", "output: none", "audit.checkpoints.output: changes from syslog to none"),
            (
                "witness.example.com/checkpoints", "w.example.com/c",
                "audit.checkpoints.url: changes from https://witness.example.com/checkpoints to https://w.example.com/c"
            ),
            (
                "    tokenFile: /etc/privyseal/witness.token\n", "",
                "audit.checkpoints.tokenFile: is removed; it was /etc/privyseal/witness.token"
            ),
            (
                "object=log", "object=other",
                "audit.checkpoints.cosigner: changes from pkcs11:token=audit;object=log to pkcs11:token=audit;object=other"
            ),
            (
                "/run/audit-pin", "/run/sesame4711",
                "audit.checkpoints.cosigner: changes in a part that is not shown: a secret, or the content of a file"
            ),
        ] as [(String, String, String)])
    func audit(_ text: String, _ replacement: String, _ sentence: String) throws {
        let changed = Examples.full.replacing(text, with: replacement)
        #expect(try lines(Examples.full, changed) == [sentence + ", which needs a restart."])
    }

    @Test("adding or removing the audit log needs a restart")
    func auditWhole() throws {
        let on = Examples.least("audit: off", "audit: {database: /d}")
        let shown =
            "{database: /d, key: /d.key, writeTimeout: 2 s, reserve: 256 MiB, checkpoints: {interval: 60 s, file: "
            + "/d.checkpoints, output: none}}, which needs a restart."
        #expect(try lines(Examples.least, on) == ["audit: is added as " + shown])
        #expect(try lines(on, Examples.least) == ["audit: is removed; it was " + shown])
        #expect(try lines(Examples.least, Examples.least("audit: off", "audit: false")) == [])
        #expect(try lines(Examples.least, Examples.least("audit: off\n", "")) == [])
    }

    @Test("added, removed and changed clients are listed by name")
    func clients() throws {
        let ops = "  - {name: ops, administrator: true, uids: [7]}\n"
        let added = Examples.network("clients:\n", "clients:\n" + ops)
        #expect(try clients(Examples.network, Examples.network) == [])
        #expect(try clients(Examples.network, Examples.network("[1001, 0]", "[0, 1001]")) == [])
        #expect(try clients(Examples.network, Examples.network("connections: 100", "connections: 101")) == [])
        #expect(try clients(Examples.network, added) == ["ops added"])
        #expect(try clients(added, Examples.network) == ["ops removed"])
        #expect(try clients(added, added.replacing("perSecond: 0.5", with: "perSecond: 5")) == ["shop changed"])
        #expect(
            try clients(Examples.network, added.replacing("name: shop", with: "name: store")) == [
                "ops added", "shop removed", "store added",
            ])
    }

    private func clients(_ old: String, _ new: String) throws -> [String] {
        try configuration(new).clientChanges(from: configuration(old)).map { "\($0.name) \($0.kind.rawValue)" }
    }

    @Test("a change has a kind and both texts, and changes are sorted by path")
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

    @Test("two accounts with one issuer ID are compared separately")
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

    @Test("a change shows no digest and no secret source, and its length is limited")
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
