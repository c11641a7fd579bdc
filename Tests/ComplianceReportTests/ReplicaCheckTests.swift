import ComplianceReport
import SigningKit
import Testing

@Suite("Compliance checks of a key with several places")
struct ReplicaCheckTests {
    /// A key with a second place, which `change` changes.
    private func report(
        _ change: (inout ReplicaFindings, inout KeyInspection) -> Void = { _, _ in }
    ) -> ComplianceReport {
        Sample.report(
            Sample.findings(.imported) { key in
                var replica = ReplicaFindings(uri: "pkcs11:token=b;object=KEY0000001")
                var seen = Sample.inspection(.imported)
                change(&replica, &seen)
                if case .unsupported = replica.inspection { replica.inspection = .seen(seen, at: Sample.now) }
                if case .unavailable("It was not inspected.") = replica.proof { replica.proof = .valid(at: Sample.now) }
                key.replicas = [replica]
            })
    }

    @Test("every place is examined, and equal places agree")
    func good() {
        let report = report()
        for id in ["identity.pin", "custody", "attribute.CKA_EXTRACTABLE", "selftest.pairwise"] {
            #expect(report.result(id) == .pass, "\(id)")
            #expect(report.result("replica.1.\(id)") == .pass, "\(id)")
        }
        #expect(report.result("replicas.agree") == .pass)
        #expect(report.check("replica.1.custody")?.asks.contains("pkcs11:token=b") == true)
    }

    @Test("an attribute that differs between two places fails, and the report names both values and places")
    func attribute() {
        let report = report { _, seen in seen.checks[0].fail(with: "TRUE") }
        #expect(report.result("replica.1.attribute.CKA_EXTRACTABLE") == .fail)
        let agreement = report.check("replicas.agree")
        #expect(agreement?.result == .fail)
        #expect(
            agreement?.detail?.contains(
                "CKA_EXTRACTABLE is FALSE at pkcs11:token=a;object=KEY0000001 and TRUE at pkcs11:token=b") == true)
    }

    @Test("the object may have another label and ID at each place")
    func names() {
        let label = ComplianceCheck(
            "attribute.CKA_LABEL", "What is its label?", [], value: "other", expected: "any", .pass)
        let report = Sample.report(
            Sample.findings(.imported) { key in
                var replica = ReplicaFindings(uri: "pkcs11:token=b;object=other")
                var seen = Sample.inspection(.imported)
                seen.checks.append(label)
                replica.inspection = .seen(seen, at: Sample.now)
                key.replicas = [replica]
                key.look { seen in
                    seen.checks.append(label)
                    seen.checks[seen.checks.count - 1].value = "KEY0000001"
                }
            })
        #expect(report.result("replicas.agree") == .pass)
    }

    @Test("another key at a place fails")
    func anotherKey() {
        let report = report { _, seen in seen.fingerprint = Sample.other }
        #expect(report.result("identity.pin") == .pass)
        #expect(report.result("replica.1.identity.pin") == .fail)
        #expect(report.result("replicas.agree") == .fail)
    }

    @Test("a place that cannot be examined is unavailable, never a pass")
    func unavailable() {
        let report = report { replica, _ in
            replica.inspection = .unseen(.unavailable("The token is not there."), checks: [])
            replica.proof = .unavailable("The token is not there.")
        }
        #expect(report.result("replica.1.custody") == .unavailable)
        #expect(report.result("replica.1.selftest.pairwise") == .unavailable)
        #expect(report.result("replicas.agree") == .unavailable)
        #expect(report.result("custody") == .pass)
    }

    @Test("a key with replicas needs the drill failover, and a key without does not")
    func drill() {
        #expect(report().result("drills.failover") == .fail)
        #expect(Sample.report(Sample.findings()).check("drills.failover") == nil)
    }

    @Test("a key with one place has no checks of replicas")
    func onePlace() {
        #expect(!Sample.report(Sample.findings()).checks.contains { $0.id.hasPrefix("replica") })
    }
}
