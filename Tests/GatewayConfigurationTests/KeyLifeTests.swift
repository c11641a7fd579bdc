import GatewayConfiguration
import Testing

@Suite("Key lifecycle settings")
struct KeyLifeTests {
    private static let account = "accounts[0]"
    private static let log = "audit: {database: /var/lib/privyseal/audit.db}"

    @Test("the reader keeps every given setting")
    func everySetting() throws {
        let configuration = try configuration(Examples.full)
        let account = configuration.accounts[1]
        #expect(!account.hasDualControl)
        #expect(account.proposalLifetime == .seconds(3600))
        #expect(account.keys[0].cryptoperiod == 365)
        #expect(account.keys[0].provenance == .imported)
        #expect(configuration.drills?.directory.path == "/srv/drills")
        #expect(configuration.drillDirectory == "/srv/drills")
        #expect(try key("provenance: generated").provenance == .generated)
        #expect(try read("dualControl: true", Self.log).accounts[0].hasDualControl)
    }

    @Test("the defaults are one administrator, one day, two years and no provenance")
    func defaults() throws {
        let configuration = try configuration(Examples.least)
        let account = configuration.accounts[0]
        #expect(!account.hasDualControl)
        #expect(account.proposalLifetime == .seconds(86_400))
        #expect(account.keys[0].cryptoperiod == 730)
        #expect(account.keys[0].provenance == nil)
        #expect(configuration.drills == nil)
    }

    @Test("the drill directory defaults to the directory of the audit log")
    func drills() throws {
        #expect(try configuration(Examples.least).drillDirectory == nil)
        #expect(try read("", Self.log).drillDirectory == "/var/lib/privyseal/drills")
        #expect(try read("", "audit: {database: \"sqlite:/a.db\"}").drillDirectory == "/drills")
        #expect(try read("", Self.log + "\ndrills: {directory: /srv/d}").drillDirectory == "/srv/d")
    }

    @Test("the reader accepts the minimum and maximum values")
    func bounds() throws {
        #expect(try read("proposalLifetime: 60").accounts[0].proposalLifetime == .seconds(60))
        #expect(try read("proposalLifetime: 2592000").accounts[0].proposalLifetime == .seconds(2_592_000))
        #expect(try key("cryptoperiod: 1").cryptoperiod == 1)
        #expect(try key("cryptoperiod: 1095").cryptoperiod == 1095)
    }

    private static let needsLog =
        "gateway.yaml:2: accounts[0].dualControl: needs the audit log, which stores proposals and approvals; give "
        + "audit.database, or remove it."

    @Test(
        "dual control requires the audit log",
        arguments: ["audit: off", "", "audit: false"])
    func dualControlWithoutLog(_ audit: String) {
        #expect(faults(in: Self.yaml("dualControl: true", audit)) == [Self.needsLog])
        #expect(faults(in: Self.yaml("dualControl: false", audit)) == [])
    }

    @Test(
        "the reader does not report an invalid audit section as missing",
        arguments: ["audit: {database: a.db}", "audti: {database: /a.db}"])
    func dualControlWithFaultyLog(_ audit: String) {
        let found = faults(in: Self.yaml("dualControl: true", audit))
        #expect(found.count == 1)
        #expect(!found.contains(Self.needsLog))
    }

    private static let admin = "listeners: {admin: {address: \"unix:/run/privyseal/admin.sock\"}}\n"
    private static let tcp = "listeners: {admin: {address: \"127.0.0.1:8081\"}}\n"
    private static let one = "clients:\n  - {name: ann, administrator: true, uids: [7]}\n"
    private static let two = one + "  - {name: bob, administrator: true, uids: [8]}\n"
    private static let none = "clients:\n  - {name: shop, uids: [9]}\n"

    @Test(
        "the reader warns if dual control lacks a second administrator",
        arguments: [
            ("", "there is only operator, so no proposal could be approved; give listeners.admin, and another client"),
            (one, "there is only operator, so no proposal could be approved; give listeners.admin, and another client"),
            (admin, "there is only operator, so no proposal could be approved; give another client"),
            (admin + none, "there is only operator, so no proposal could be approved; give another client"),
            (tcp, "there is none, so no proposal could be approved; give another client"),
            (tcp + one, "there is only ann, so no proposal could be approved; give another client"),
        ] as [(String, String)])
    func lonely(_ before: String, _ sentence: String) throws {
        let warnings = try configuration(before + Self.yaml("dualControl: true", Self.log)).warnings.map(\.description)
        let missed = warnings.filter { $0.contains("dualControl: requires two administrators, but ") }
        #expect(missed.count == 1)
        #expect(missed.first?.hasSuffix("but \(sentence) administrator: true.") == true, "\(warnings)")
    }

    @Test(
        "the reader does not warn if dual control has two administrators",
        arguments: [admin + one, admin + two, tcp + two])
    func company(_ before: String) throws {
        let warnings = try configuration(before + Self.yaml("dualControl: true", Self.log)).warnings.map(\.description)
        #expect(!warnings.contains { $0.contains("dualControl") })
    }

    @Test("operator counts as an administrator unless the account excludes it")
    func operatorCounts() throws {
        #expect(try read("dualControl: true", Self.log).accounts[0].countsOperator)
        for (text, counts) in [("false", false), ("true", true)] {
            let account = try read("dualControl: {operator: \(text)}", Self.log).accounts[0]
            #expect(account.hasDualControl && account.countsOperator == counts)
        }
        let (old, new) = (
            try read("dualControl: true", Self.log), try read("dualControl: {operator: false}", Self.log)
        )
        #expect(
            new.changes(from: old).map(\.description).contains {
                $0.contains("dualControl") && $0.contains("true without operator")
            })
    }

    @Test("operator does not count if excluded or beside a client with uid 0")
    func operatorIsNoSecondPerson() throws {
        let root = "clients:\n  - {name: ann, administrator: true, uids: [0]}\n"
        for (before, line) in [
            (Self.admin + Self.one, "dualControl: {operator: false}"), (Self.admin + root, "dualControl: true"),
        ] {
            let warnings = try configuration(before + Self.yaml(line, Self.log)).warnings.map(\.description)
            let sentence = "dualControl: requires two administrators, but there is only ann"
            #expect(warnings.contains { $0.contains(sentence) })
        }
    }

    @Test(
        "the reader refuses invalid account settings and names the cure",
        arguments: [
            (
                "dualControl: yes",
                "dualControl: must be true or false, but is text; write true or false, without quotes."
            ),
            (
                "dualControl: 2",
                "dualControl: must be true or false, but is a whole number; write true or false, without quotes."
            ),
            (
                "dualControl: {operator: yes}",
                "dualControl.operator: must be true or false, but is text; write true or false, without quotes."
            ),
            ("proposalLifetime: 59", "proposalLifetime: is 59; it must be from 60 to 2592000 seconds."),
            ("proposalLifetime: 2592001", "proposalLifetime: is 2592001; it must be from 60 to 2592000 seconds."),
            (
                "proposalLifetime: 24h",
                "proposalLifetime: must be a whole number, but is text; write it in decimal digits, without quotes or a unit."
            ),
            (
                "dualControll: false",
                "dualControll: is not a known key; did you mean dualControl? The keys are "
                    + "issuerId, apps, keys, activeKey, dualControl, proposalLifetime."
            ),
        ] as [(String, String)])
    func account(_ line: String, _ sentence: String) {
        #expect(faults(in: Self.yaml(line, Self.log)) == ["gateway.yaml:3: accounts[0].\(sentence)"])
    }

    @Test(
        "the reader refuses invalid key settings and names the cure",
        arguments: [
            ("cryptoperiod: 0", "cryptoperiod: is 0; it must be from 1 to 1095."),
            ("cryptoperiod: 1096", "cryptoperiod: is 1096; it must be from 1 to 1095."),
            (
                "cryptoperiod: 2y",
                "cryptoperiod: must be a whole number, but is text; write it in decimal digits, without quotes or a unit."
            ),
            (
                "provenance: import",
                "provenance: is \"import\", which is not known; did you mean imported? The choices are imported, generated."
            ),
        ] as [(String, String)])
    func key(_ line: String, _ sentence: String) {
        #expect(faults(in: Self.keyYAML(line)) == ["gateway.yaml:9: accounts[0].keys[0].\(sentence)"])
    }

    private static let place =
        "drills.directory: must be the absolute path of a directory, such as /var/lib/privyseal/drills."

    @Test(
        "the reader refuses an invalid drill directory and names the cure",
        arguments: [
            ("{directory: drills}", place), ("{directory: /srv/}", place), ("{directory: \"\"}", place),
            (
                "{}",
                "drills.directory: is missing; give the absolute path of a directory for the records of drills, such as "
                    + "/var/lib/privyseal/drills."
            ),
            (
                "/srv/drills",
                "drills: must be a mapping, but is text; write each key on a line of its own, as in \"key: value\"."
            ),
            ("{directory: /d, keep: 3}", "drills.keep: is not a known key; the keys are directory."),
        ] as [(String, String)])
    func drillFaults(_ text: String, _ sentence: String) {
        #expect(faults(in: "drills: \(text)\n" + Examples.least) == ["gateway.yaml:1: \(sentence)"])
    }

    private func read(_ line: String, _ audit: String = "audit: off") throws -> GatewayConfiguration {
        try configuration(Self.yaml(line, audit))
    }

    private func key(_ line: String) throws -> GatewayConfiguration.Key {
        try configuration(Self.keyYAML(line)).accounts[0].keys[0]
    }

    /// `Examples.least` with another line in the account: the third line of the file.
    private static func yaml(_ line: String, _ audit: String) -> String {
        let issuer = "  - issuerId: 57246542-96fe-1a63-e053-0824d011072a\n"
        return Examples.least(issuer, issuer + (line.isEmpty ? "" : "    \(line)\n"))
            .replacing("audit: off", with: audit)
    }

    /// `Examples.least` with another line in the key: the ninth line of the file.
    private static func keyYAML(_ line: String) -> String {
        Examples.least("AuthKey.p8\n", "AuthKey.p8\n        \(line)\n")
    }
}
