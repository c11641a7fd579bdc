import ComplianceReport
import SigningKit
import StrictJSON
import Testing

@Suite("What is checked of an installation")
struct InstallationCheckTests {
    @Test("an audit log that is off or changed fails, and one that was not verified is no pass")
    func audit() {
        #expect(Sample.report(Sample.findings { $0.audit = .off }).result("audit.intact") == .fail)
        #expect(Sample.report(Sample.findings { $0.audit = .unread("No.") }).result("audit.intact") == .unavailable)
        #expect(
            Sample.report(Sample.findings { $0.audit = .unverified(anchor: nil) }).result("audit.intact")
                == .unavailable)
        let changed = AuditFindings.Verified(
            anchor: nil, entries: 7, faultCount: 1, faults: ["Entry 3 was changed."], externalChecked: 0)
        let report = Sample.report(Sample.findings { $0.audit = .verified(changed) })
        #expect(report.result("audit.intact") == .fail)
        #expect(report.check("audit.intact")?.detail == "Entry 3 was changed.")
        #expect(report.result("audit.secondPlace") == .unavailable)
    }

    @Test("a drill that was never held, failed or is too old fails; the last one counts")
    func drills() {
        let drill = { (scenario: String, days: Int, isPassed: Bool) in
            DrillFinding(
                id: "\(days)", scenario: scenario, ended: Sample.before(days: days), isPassed: isPassed, file: "f")
        }
        let report = Sample.report(
            Sample.findings {
                $0.drills = .read(
                    directory: "/d",
                    [
                        drill("compromise", 9, false), drill("compromise", 3, true), drill("token-loss", 366, true),
                        drill("operator-mistake", 9, true), drill("operator-mistake", 3, false),
                    ], complaints: ["x"])
            })
        #expect(report.result("drills.compromise") == .pass)
        #expect(report.check("drills.compromise")?.value == "passed 3 days ago")
        #expect(report.result("drills.token-loss") == .fail)
        #expect(report.result("drills.operator-mistake") == .fail)
        #expect(report.result("drills.scheduled-rotation") == .fail)
        #expect(report.result("drills.readable") == .unavailable)
        #expect(Sample.report(Sample.findings { $0.drills = .none }).result("drills.compromise") == .unavailable)
    }

    @Test("anonymous callers, an administrator who signs, and one administrator for dual control fail")
    func clients() {
        #expect(
            Sample.report(Sample.findings { $0.allowsAnonymous = true }).result("clients.authenticated") == .fail)
        let both = Sample.report(Sample.findings { $0.clients[0].isAdministrator = true })
        #expect(both.result("clients.rolesApart") == .fail)
        #expect(both.check("clients.rolesApart")?.value == "shop")
        let one = Sample.report(Sample.findings { $0.clients.removeLast() })
        #expect(one.result("clients.administrators") == .fail)
        #expect(one.check("clients.reach.shop")?.value == "apps com.example")
    }

    @Test("a listener in the clear for other machines fails; what a proxy does is not seen")
    func listeners() {
        let result = { (protection: ListenerFindings.Protection) in
            Sample.report(Sample.findings { $0.listeners[0].protection = protection }).result("tls.public")
        }
        #expect(result(.none) == .fail)
        #expect(result(.proxy) == .unavailable)
        #expect(result(.local) == .notApplicable)
    }

    @Test("a register that differs from the configuration fails, one that cannot be asked is unavailable")
    func register() {
        let differs = Sample.report(
            Sample.findings { $0.register = .known(differences: ["They differ."], ceremonies: [], proposals: []) })
        #expect(differs.result("register.agrees") == .fail)
        let unknown = Sample.report(Sample.findings { $0.register = .unknown("No.") })
        #expect(unknown.result("register.known") == .unavailable)
    }

    @Test("an account where one administrator is enough fails")
    func dualControl() {
        let report = Sample.report(Sample.findings { $0.accounts[0].hasDualControl = false })
        #expect(report.result("accounts.dualControl.issuer") == .fail)
        #expect(report.result("ceremony.dualControl") == .notApplicable)
    }

    @Test("the known answer is asked for, and a wrong one fails")
    func knownAnswer() {
        #expect(Sample.report(Sample.findings()).result("selftest.knownAnswer") == .pass)
        #expect(Sample.report(Sample.findings { $0.knowsAnswer = false }).result("selftest.knownAnswer") == .fail)
    }

    @Test("every check says which requirement it serves and where its evidence is, and has an ID of its own")
    func complete() {
        let report = Sample.report(Sample.findings())
        #expect(Set(report.checks.map(\.id)).count == report.checks.count)
        for check in report.checks {
            #expect(!check.evidence.isEmpty, "\(check.id)")
            #expect(!check.requirements.isEmpty || check.id == "attribute.CKA_WRAP_WITH_TRUSTED", "\(check.id)")
        }
    }

    @Test("of a drill's record the head is read, and the rest passed over")
    func drillRecord() throws {
        let text = """
            {"version":1,"id":"d1","scenario":"compromise","planned":true,"begun":"2026-11-20T10:00:00.000Z",\
            "ended":"2026-11-20T10:05:00.000Z","verdict":"passed","steps":[{"x":1}]}
            """
        let drill = try DrillFinding(from: JSONDocument(parsing: Array(text.utf8)).root, file: "f")
        #expect(drill.id == "d1" && drill.isPassed && drill.scenario == "compromise")
        for broken in [
            text.replacing("\"version\":1", with: "\"version\":2"), text.replacing("ended", with: "end"), "[]",
        ] {
            #expect(throws: (any Error).self) {
                try DrillFinding(from: JSONDocument(parsing: Array(broken.utf8)).root, file: "f")
            }
        }
    }
}
