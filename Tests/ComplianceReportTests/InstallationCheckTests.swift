import ComplianceReport
import KeyLifecycle
import SigningKit
import StrictJSON
import Testing

@Suite("Compliance checks of an installation")
struct InstallationCheckTests {
    @Test("an audit log fails if off or changed, and is unavailable if not verified")
    func audit() {
        #expect(Sample.report(Sample.findings { $0.audit = .off }).result("audit.intact") == .fail)
        #expect(Sample.report(Sample.findings { $0.audit = .unread("No.") }).result("audit.intact") == .unavailable)
        #expect(
            Sample.report(Sample.findings { $0.audit = .unverified(anchor: nil) }).result("audit.intact")
                == .unavailable)
        let changed: AuditFindings.Verified = (
            anchor: nil, entries: 7, faultCount: 1, faults: ["Entry 3 was changed."], externalChecked: 0,
            secondPlace: .otherFileSystem
        )
        let report = Sample.report(Sample.findings { $0.audit = .verified(changed) })
        #expect(report.result("audit.intact") == .fail)
        #expect(report.check("audit.intact")?.detail == "Entry 3 was changed.")
        #expect(report.result("audit.secondPlace") == .unavailable)
    }

    @Test("an audit log without entries is unavailable")
    func emptyLog() {
        let empty: AuditFindings.Verified = (
            anchor: nil, entries: 0, faultCount: 0, faults: [], externalChecked: 0, secondPlace: .otherFileSystem
        )
        #expect(Sample.report(Sample.findings { $0.audit = .verified(empty) }).result("audit.intact") == .unavailable)
    }

    @Test("checkpoints on the disk of the log fail, and sent ones are unavailable")
    func secondPlace() {
        let result = { (place: AuditFindings.CheckpointLocation, compared: Int) in
            let verified: AuditFindings.Verified = (
                anchor: nil, entries: 7, faultCount: 0, faults: [], externalChecked: compared, secondPlace: place
            )
            return Sample.report(Sample.findings { $0.audit = .verified(verified) }).result("audit.secondPlace")
        }
        #expect(result(.otherFileSystem, 2) == .pass)
        #expect(result(.otherFileSystem, 0) == .unavailable)
        #expect(result(.sameFileSystem, 2) == .fail)
        #expect(result(.passing(kind: "tmpfs"), 2) == .fail)
        #expect(result(.sent(place: "syslog"), 2) == .unavailable)
    }

    private func report(_ records: [DrillFinding?], _ change: (inout DrillEvidence) -> Void = { _ in })
        -> ComplianceReport
    {
        var evidence = Sample.drills(records.compactMap(\.self))
        change(&evidence)
        return Sample.report(Sample.findings { $0.drills = .read(evidence) })
    }

    @Test("a drill check fails if the last drill is missing, failed or too old")
    func drills() {
        let drill = { (scenario: String, days: Int, isPassed: Bool) in
            Sample.drill(scenario, days: days, isPassed: isPassed)
        }
        let report = report([
            drill("compromise", 9, false), drill("compromise", 3, true), drill("token-loss", 366, true),
            drill("operator-mistake", 9, true), drill("operator-mistake", 3, false),
        ]) { $0.complaints = ["x"] }
        #expect(report.result("drills.compromise") == .pass)
        #expect(report.check("drills.compromise")?.value == "passed 3 days ago, on the gateway that serves")
        #expect(report.result("drills.token-loss") == .fail)
        #expect(report.result("drills.operator-mistake") == .fail)
        #expect(report.result("drills.scheduled-rotation") == .fail)
        #expect(report.result("drills.readable") == .unavailable)
        #expect(report.result("drills.bound") == nil)
        #expect(Sample.report(Sample.findings { $0.drills = .none }).result("drills.compromise") == .unavailable)
        #expect(
            Sample.report(Sample.findings { $0.drills = .unverified("No.") }).result("drills.compromise")
                == .unavailable)
    }

    @Test("a drill record without an entry in the audit log fails")
    func handMadeRecord() {
        let report = report([Sample.drill("compromise")]) { $0.logged = [] }
        #expect(report.result("drills.compromise") == .fail)
        #expect(report.check("drills.compromise")?.value == "1 not in the audit log")
        #expect(report.result("drills.bound") == .unavailable)
    }

    @Test("a drill record fails if its digest differs from the one in the audit log")
    func changedRecord() {
        let report = report([Sample.drill("compromise")]) { $0.records[0].digest = "another" }
        #expect(report.result("drills.compromise") == .fail)
        #expect(report.check("drills.compromise")?.detail?.contains("was changed since") == true)
    }

    @Test("a failed drill counts even if its record was removed")
    func removedRecord() {
        let passed = Sample.drill("compromise", days: 9)
        let report = report([passed, Sample.drill("compromise", isPassed: false)]) { $0.records.removeLast() }
        #expect(report.result("drills.compromise") == .fail)
        #expect(report.check("drills.compromise")?.value == "failed, without its record")
    }

    @Test("a drill record with a wrong checkpoint or proof fails, and the report names the reason")
    func faultyRecord() {
        let report = report([Sample.drill("compromise")]) { $0.records[0].fault = "The proof is wrong." }
        #expect(report.result("drills.compromise") == .fail)
        #expect(report.check("drills.compromise")?.detail == "The proof is wrong.")
    }

    @Test("a drill fails if it ended after the report or the audit log says that it failed")
    func impossibleDrill() {
        let future = report([Sample.drill("compromise", days: -1)])
        #expect(future.result("drills.compromise") == .fail)
        #expect(future.check("drills.compromise")?.value == "ended at 2026-11-22T12:00:00.000Z")
        #expect(future.check("drills.compromise")?.detail?.contains("a clock was changed") == true)
        let failed = report([Sample.drill("compromise")]) { $0.logged[0].isPassed = false }
        #expect(failed.result("drills.compromise") == .fail)
    }

    @Test("in a fleet, the last drill of any gateway counts")
    func sharedDrill() {
        let shared = { (days: Int, isPassed: Bool) in
            let drill = FleetDrill(
                id: Sample.drill("compromise", days: days)?.id ?? "", scenario: "compromise",
                verdict: isPassed ? "passed" : "failed", begun: Sample.before(days: days),
                ended: Sample.before(days: days), isTemporary: false, served: 1, failed: 0, wronglySigned: 0,
                deviations: 0, digest: "", entry: 3, gateway: "shop-2")
            return (drill: drill, entry: 9)
        }
        let check = { (own: [DrillFinding?], others: [(drill: FleetDrill, entry: Int)]) in
            report(own) { $0.shared = others }.check("drills.compromise")
        }
        let alone = check([], [shared(9, false), shared(3, true)])
        #expect(alone?.value == "passed 3 days ago, on shop-2")
        #expect(alone?.evidence == "the drills at entry 9 of the log of the fleet")
        #expect(
            check([Sample.drill("compromise", days: 4)], [shared(3, false)])?.value == "failed 3 days ago, on shop-2")
        let own = check([Sample.drill("compromise", days: 2)], [shared(3, false)])
        #expect(own?.value == "passed 2 days ago, on the gateway that serves")
    }

    @Test("the report says that a drill ran on a throw-away gateway")
    func throwAway() {
        let report = report([Sample.drill("compromise", isTemporary: true)])
        #expect(report.result("drills.compromise") == .pass)
        #expect(report.check("drills.compromise")?.value == "passed 3 days ago, on a throw-away gateway")
        #expect(report.check("drills.compromise")?.detail?.contains("software token") == true)
    }

    @Test("LoggedDrill reads entries about drills and no others")
    func loggedDrill() {
        let entry = """
            {"actor":"operator","digest":"abc","id":"20261121T120000Z-compromise","kind":"report","outcome":"passed",\
            "subject":"drill","time":"2026-11-21T12:00:00.000Z","v":1}
            """
        #expect(
            LoggedDrill(Array(entry.utf8), at: 7)
                == LoggedDrill(entry: 7, id: "20261121T120000Z-compromise", digest: "abc", isPassed: true))
        let failed = entry.replacing("passed", with: "failed")
        #expect(LoggedDrill(Array(failed.utf8), at: 7)?.isPassed == false)
        for other in [entry.replacing("drill", with: "compliance"), entry.replacing("report", with: "stop"), ""] {
            #expect(LoggedDrill(Array(other.utf8), at: 7) == nil, "\(other)")
        }
    }

    @Test("anonymous access, an administrator who signs, and a single administrator fail")
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

    @Test("a plaintext listener for other machines fails, and one behind a proxy is unavailable")
    func listeners() {
        let result = { (protection: ListenerProtection) in
            Sample.report(Sample.findings { $0.listeners[0].protection = protection }).result("tls.public")
        }
        #expect(result(.none) == .fail)
        #expect(result(.proxy) == .unavailable)
        #expect(result(.local) == .notApplicable)
    }

    @Test("a signature without a record and a missing layer of protection fail; without a gateway nothing is known")
    func signers() {
        let result = { (id: String, signers: SignersFindings) in
            Sample.report(Sample.findings { $0.signers = signers }).result(id)
        }
        let whole = SignerProcessFindings(
            name: "hsm", process: 1, layers: ["session", "files"], missing: [:], limits: [])
        let part = SignerProcessFindings(
            name: "hsm", process: 2, layers: ["session"], missing: ["files": "no"],
            limits: ["It does not restrict truncate(2)."])
        let bad = SignersFindings.running(processes: [whole, part], inProcess: ["tpm"], withoutRecord: 3)
        #expect(result("signers.withoutRecord", bad) == .fail)
        #expect(result("signers.protection.hsm", bad) == .fail)
        #expect(result("signers.protection.tpm", bad) == .fail)
        let check = Sample.report(Sample.findings { $0.signers = bad }).check("signers.protection.hsm")
        #expect(check?.evidence.hasSuffix("; It does not restrict truncate(2).") == true)
        let good = SignersFindings.running(processes: [whole], inProcess: [], withoutRecord: 0)
        #expect(result("signers.withoutRecord", good) == .pass)
        #expect(result("signers.protection.hsm", good) == .pass)
        #expect(result("signers.withoutRecord", .unknown("No gateway runs.")) == .unavailable)
        let withoutLog = Sample.report(Sample.findings { $0.audit = .off })
        #expect(withoutLog.result("signers.withoutRecord") == .unavailable)
    }

    @Test("a register that differs from the configuration fails, and an unknown one is unavailable")
    func register() {
        let differs = Sample.report(
            Sample.findings { $0.register = .known(differences: ["They differ."], jobs: [], proposals: []) })
        #expect(differs.result("register.agrees") == .fail)
        let unknown = Sample.report(Sample.findings { $0.register = .unknown("No.") })
        #expect(unknown.result("register.known") == .unavailable)
    }

    @Test("an account without dual control fails")
    func dualControl() {
        let report = Sample.report(Sample.findings { $0.accounts[0].hasDualControl = false })
        #expect(report.result("accounts.dualControl.issuer") == .fail)
        #expect(report.result("ceremony.dualControl") == .notApplicable)
    }

    @Test("the known-answer test fails on a wrong answer")
    func knownAnswer() {
        #expect(Sample.report(Sample.findings()).result("selftest.knownAnswer") == .pass)
        #expect(Sample.report(Sample.findings { $0.knowsAnswer = false }).result("selftest.knownAnswer") == .fail)
    }

    @Test("every check has a unique ID and names its evidence")
    func complete() {
        let report = Sample.report(Sample.findings())
        #expect(Set(report.checks.map(\.id)).count == report.checks.count)
        for check in report.checks { #expect(!check.evidence.isEmpty, "\(check.id)") }
    }

    @Test("the report cites only requirements that docs/compliance.md lists as compared")
    func references() {
        let compared: Set<String> = [
            "PCI DSS 4.0.1 §3.6.1.2", "PCI DSS 4.0.1 §3.7.1", "PCI DSS 4.0.1 §3.7.2", "PCI DSS 4.0.1 §3.7.3",
            "PCI DSS 4.0.1 §3.7.4", "PCI DSS 4.0.1 §3.7.5", "PCI DSS 4.0.1 §3.7.7", "PCI DSS 4.0.1 §12.10.2",
            "NIST SP 800-57 pt 1 r5 §5.2", "NIST SP 800-57 pt 1 r5 §5.3.6", "NIST SP 800-57 pt 1 r5 §5.6",
            "NIST SP 800-57 pt 1 r5 §6", "NIST SP 800-57 pt 1 r5 §7",
        ]
        let cited = Set(Sample.report(Sample.findings()).checks.flatMap(\.requirements).map(\.description))
        #expect(cited.isSubset(of: compared), "\(cited.subtracting(compared))")
        // They concern cleartext key components and manual operations with cleartext keys. The gateway has neither.
        #expect(cited.isDisjoint(with: ["PCI DSS 4.0.1 §3.6.1.3", "PCI DSS 4.0.1 §3.7.6"]))
    }

    @Test("DrillFinding reads the head of a drill record and skips the rest")
    func drillRecord() throws {
        let text = """
            {"version":1,"id":"d1","scenario":"compromise","planned":true,"begun":"2026-11-20T10:00:00.000Z",\
            "gateway":{"throwAway":true},"audit":{"first":1,"last":2,"checkpoint":"note"},\
            "ended":"2026-11-20T10:05:00.000Z","verdict":"passed","steps":[{"x":1}]}
            """
        let drill = try DrillFinding(from: JSONDocument(parsing: Array(text.utf8)).root, file: "f", digest: "d")
        #expect(drill.isTemporary && drill.checkpoint == "note" && drill.digest == "d")
        #expect(drill.id == "d1" && drill.isPassed && drill.scenario == "compromise")
        for broken in [
            text.replacing("\"version\":1", with: "\"version\":2"), text.replacing("ended", with: "end"), "[]",
        ] {
            #expect(throws: (any Error).self) {
                try DrillFinding(from: JSONDocument(parsing: Array(broken.utf8)).root, file: "f", digest: "d")
            }
        }
    }
}
