import ComplianceReport
import KeyLifecycle
import Signing
import SigningKit
import Testing

@Suite("Compliance checks of a key")
struct KeyCheckTests {
    @Test(
        "a correct key passes the checks for its provenance",
        arguments: [KeyProvenance.imported, .generated])
    func good(_ provenance: KeyProvenance) {
        let report = Sample.report(Sample.findings(provenance) { _ in })
        let bad = report.checks.filter { $0.result == .fail || $0.result == .unavailable }
        #expect(bad.isEmpty, "\(bad.map(\.id))")
        #expect(report.tally.verdict == .pass)
        #expect(report.check("attribute.CKA_LOCAL")?.value == provenance.rawValue)
    }

    @Test("a key fails if its fingerprint differs from the pinned one or none is pinned")
    func pin() {
        let other = Sample.report(Sample.findings(.imported) { $0.look { $0.fingerprint = Sample.other } })
        #expect(other.result("identity.pin") == .fail)
        let free = Sample.report(
            Sample.findings(.imported) {
                $0.pinned = nil
                $0.life?.fingerprint = nil
            })
        #expect(free.result("identity.pin") == .fail)
        let registered = Sample.report(Sample.findings(.imported) { $0.pinned = nil })
        #expect(registered.result("identity.pin") == .pass)
    }

    @Test("a key in software fails unless the report accepts software")
    func software() {
        var findings = Sample.findings(.imported) {
            $0.look { $0.protection = .init(.software, "software that plays a token, not hardware") }
        }
        let report = Sample.report(findings)
        #expect(report.result("custody") == .fail)
        #expect(report.check("custody")?.value?.contains("not hardware") == true)
        findings.acceptsSoftware = true
        let accepted = Sample.report(findings)
        #expect(accepted.result("custody") == .notApplicable)
        #expect(accepted.check("custody")?.value?.contains("not hardware") == true)
        #expect(accepted.installation.contains { $0.value.contains("--accept-software") })
    }

    @Test("a module of an unknown kind does not count as hardware")
    func unknownModule() {
        let report = Sample.report(
            Sample.findings(.imported) { $0.look { $0.protection = .init(.unknown, "a token", detail: "Why.") } })
        #expect(report.result("custody") == .unavailable)
        #expect(report.check("custody")?.detail == "Why.")
    }

    @Test("the backend's checks and facts are in the report, with the time of the inspection as evidence")
    func backendChecks() {
        let report = Sample.report(Sample.findings(.imported) { $0.look { $0.checks[0].result = .fail } })
        #expect(report.result("attribute.CKA_EXTRACTABLE") == .fail)
        #expect(report.check("attribute.CKA_EXTRACTABLE")?.evidence.hasPrefix("read from the token at 2026") == true)
        #expect(report.keys[0].facts.contains(.init("Serial number", "123")))
        #expect(report.tally.verdict == .fail)
    }

    @Test("the checks of an unreachable key are unavailable, and include those of its backend")
    func unreachable() {
        let failed = ComplianceCheck(
            "token.pinLocked", "?", [], value: nil, expected: "no", .fail, evidence: "its answer")
        let silent = ComplianceCheck("probe.wrap", "?", [], value: nil, expected: "refused", .unavailable)
        let gone = Sample.report(
            Sample.findings(.imported) {
                $0.inspection = .unseen(.unavailable("It is gone."), checks: [silent, failed])
            })
        for id in ["identity.pin", "probe.wrap", "custody"] {
            #expect(gone.result(id) == .unavailable, "\(id)")
            #expect(gone.check(id)?.evidence == "none: the key could not be reached", "\(id)")
        }
        #expect(gone.result("token.pinLocked") == .fail)
        #expect(gone.check("token.pinLocked")?.evidence == "its answer")
    }

    @Test("a mismatched key pair fails, and one that did not sign is unavailable")
    func pairwise() {
        #expect(Sample.report(Sample.findings(.imported) { $0.proof = .wrong }).result("selftest.pairwise") == .fail)
        let silent = Sample.report(Sample.findings(.imported) { $0.proof = .unavailable("No.") })
        #expect(silent.result("selftest.pairwise") == .unavailable)
    }

    @Test("a key fails on the day after its cryptoperiod ends")
    func cryptoperiod() {
        let last = Sample.report(Sample.findings(.imported) { $0.cryptoperiod = 399 })
        #expect(last.result("life.cryptoperiod") == .pass)
        let late = Sample.report(Sample.findings(.imported) { $0.cryptoperiod = 398 })
        #expect(late.result("life.cryptoperiod") == .fail)
        #expect(late.check("life.cryptoperiod")?.value == "399 days")
    }

    @Test("the age of an adopted key is unavailable unless its known part exceeds the cryptoperiod")
    func adopted() {
        let young = Sample.report(Sample.findings(.imported) { $0.life?.history[1].action = .adopt })
        #expect(young.result("life.cryptoperiod") == .unavailable)
        let old = Sample.report(
            Sample.findings(.imported) {
                $0.life?.history[1].action = .adopt
                $0.cryptoperiod = 100
            })
        #expect(old.result("life.cryptoperiod") == .fail)
        // For a key that was adopted before its import, the age counts from the import.
        let named = Sample.report(
            Sample.findings(.imported) {
                guard var adoption = $0.life?.history.first else { return }
                (adoption.action, adoption.to) = (.adopt, .active)
                $0.life?.history.insert(adoption, at: 0)
            })
        #expect(named.result("life.cryptoperiod") == .pass)
    }

    @Test("a key that became active after the report fails")
    func futureActivation() {
        let report = Sample.report(
            Sample.findings(.imported) { $0.life?.history[1].time = Sample.before(days: -1) })
        #expect(report.result("life.cryptoperiod") == .fail)
    }

    @Test("the lifecycle checks of a key without a record are unavailable")
    func unregistered() {
        let report = Sample.report(
            Sample.findings(.imported) {
                $0.life = nil
                $0.provenance = .imported
            })
        for id in ["life.state", "life.cryptoperiod", "life.history", "ceremony.record", "ceremony.dualControl"] {
            #expect(report.result(id) == .unavailable, "\(id)")
        }
    }

    @Test("a compromised key and a missing reason, approver or retirement time fail")
    func life() {
        #expect(
            Sample.report(Sample.findings(.imported) { $0.life?.state = .compromised }).result("life.state") == .fail)
        let retired = Sample.report(
            Sample.findings(.imported) {
                $0.life?.state = .retired
                $0.life?.compromisedAt = Sample.before(days: 3)
            })
        #expect(retired.result("life.state") == .fail)
        let mute = Sample.report(Sample.findings(.imported) { $0.life?.history[1].reason = "" })
        #expect(mute.result("life.history") == .fail)
        let alone = Sample.report(Sample.findings(.imported) { $0.life?.history[1].approver = nil })
        #expect(alone.result("ceremony.dualControl") == .fail)
        let self1 = Sample.report(Sample.findings(.imported) { $0.life?.history[1].approver = "anna" })
        #expect(self1.result("ceremony.dualControl") == .fail)
        #expect(
            Sample.report(Sample.findings(.imported) { $0.life?.state = .retiring }).result("life.retireAt") == .fail)
    }

    @Test("an import without a record is unavailable")
    func job() {
        let report = Sample.report(Sample.findings(.imported) { $0.life?.history[0].action = .adopt })
        #expect(report.result("ceremony.record") == .unavailable)
    }
}
