import ComplianceReport
import SigningGateway
import SigningKit
import Testing

@Suite("Compliance checks of a key")
struct KeyCheckTests {
    @Test(
        "a correct key passes the checks for its provenance",
        arguments: [KeyLifecycleRecord.Provenance.imported, .generated])
    func good(_ provenance: KeyLifecycleRecord.Provenance) {
        let report = Sample.report(Sample.findings(provenance) { _ in })
        let bad = report.checks.filter { $0.result == .fail || $0.result == .unavailable }
        #expect(bad.isEmpty, "\(bad.map(\.id))")
        #expect(report.tally.verdict == .pass)
        #expect(report.check("attribute.CKA_LOCAL")?.value == (provenance == .generated ? "TRUE" : "FALSE"))
    }

    @Test("a key fails if its attributes contradict its recorded provenance")
    func provenance() {
        let fake = Sample.report(
            Sample.findings(.generated) { $0.inspection = .seen(Sample.inspection(.imported), at: Sample.now) })
        let odd = Sample.report(
            Sample.findings(.imported) { $0.inspection = .seen(Sample.inspection(.generated), at: Sample.now) })
        for name in ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE", "CKA_KEY_GEN_MECHANISM"] {
            #expect(fake.result("attribute.\(name)") == .fail, "\(name)")
            #expect(odd.result("attribute.\(name)") == .fail, "\(name)")
        }
    }

    @Test("a key of unknown provenance does not pass the checks for it")
    func unknownProvenance() {
        let report = Sample.report(Sample.findings(.imported) { $0.life?.provenance = .unknown })
        #expect(report.result("attribute.CKA_LOCAL") == .unavailable)
        #expect(report.tally.verdict == .unavailable)
        let said = Sample.report(
            Sample.findings(.imported) {
                $0.life?.provenance = .unknown
                $0.provenance = .imported
            })
        #expect(said.result("attribute.CKA_LOCAL") == .notApplicable)
    }

    @Test(
        "a single wrong attribute fails",
        arguments: [
            ("CKA_EXTRACTABLE", "TRUE"), ("CKA_SENSITIVE", "FALSE"), ("CKA_PRIVATE", "FALSE"), ("CKA_TOKEN", "FALSE"),
            ("CKA_SIGN", "FALSE"), ("CKA_DECRYPT", "TRUE"), ("CKA_UNWRAP", "TRUE"), ("CKA_DERIVE", "TRUE"),
            ("CKA_SIGN_RECOVER", "TRUE"), ("CKA_EC_PARAMS", "P-384"), ("CKA_KEY_TYPE", "CKK_RSA"),
            ("CKA_MODIFIABLE", "TRUE"), ("CKA_ID", ""), ("CKA_LABEL", ""),
        ])
    func attribute(_ name: String, _ value: String) {
        let report = Sample.report(Sample.findings(.imported) { $0.set(name, value) })
        #expect(report.result("attribute.\(name)") == .fail)
        #expect(report.check("attribute.\(name)")?.value == value)
        #expect(report.tally.verdict == .fail)
    }

    @Test("provenance attributes are not applicable to an imported key and pass for a generated one")
    func importedIsFalse() {
        for name in ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE", "CKA_KEY_GEN_MECHANISM"] {
            let imported = Sample.report(Sample.findings(.imported) { _ in })
            #expect(imported.result("attribute.\(name)") == .notApplicable, "\(name)")
            let generated = Sample.report(Sample.findings(.generated) { _ in })
            #expect(generated.result("attribute.\(name)") == .pass, "\(name)")
        }
    }

    @Test(
        "the mechanism check passes for ECDSA mechanisms only",
        arguments: [
            ("CKM_ECDSA", ComplianceCheck.Result.pass), ("CKM_ECDSA CKM_ECDSA_SHA256", .pass), ("any", .notApplicable),
            ("CKM_ECDSA_SHA256", .fail), ("CKM_ECDSA CKM_ECDH1_DERIVE", .fail), ("", .fail),
        ])
    func mechanisms(_ value: String, _ result: ComplianceCheck.Result) {
        let report = Sample.report(Sample.findings(.imported) { $0.set("CKA_ALLOWED_MECHANISMS", value) })
        #expect(report.result("attribute.CKA_ALLOWED_MECHANISMS") == result)
    }

    @Test("an attribute without an expectation is not applicable")
    func told() {
        let report = Sample.report(Sample.findings(.imported) { $0.set("CKA_COPYABLE", "TRUE") })
        #expect(report.check("attribute.CKA_COPYABLE")?.value == "TRUE")
        #expect(report.result("attribute.CKA_COPYABLE") == .notApplicable)
    }

    @Test("an attribute that the token does not report is unavailable")
    func untold() {
        let report = Sample.report(Sample.findings(.imported) { $0.set("CKA_EXTRACTABLE", nil) })
        let check = report.check("attribute.CKA_EXTRACTABLE")
        #expect(check?.result == .unavailable && check?.value == nil)
        #expect(check?.detail?.contains("CKR_ATTRIBUTE_TYPE_INVALID") == true)
        #expect(report.tally.verdict == .unavailable)
    }

    @Test("usage.signOnly fails for a key with other rights than signing")
    func signOnly() {
        #expect(
            Sample.report(Sample.findings(.imported) { $0.set("CKA_DERIVE", "TRUE") }).result("usage.signOnly") == .fail
        )
        let silent = Sample.report(Sample.findings(.imported) { $0.set("CKA_DERIVE", nil) })
        #expect(silent.result("usage.signOnly") == .unavailable)
    }

    @Test("a key that the token exports fails despite its attributes, and an untried probe is unavailable")
    func probes() {
        let given = Sample.report(Sample.findings(.imported) { $0.look { $0.probes?.wrap = .given } })
        #expect(given.result("probe.wrap") == .fail && given.result("probe.value") == .pass)
        let untried = Sample.report(Sample.findings(.imported) { $0.look { $0.probes?.value = .untried("why") } })
        #expect(untried.result("probe.value") == .unavailable)
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

    @Test("a name that several keys share fails, and an unknown one is unavailable")
    func uniqueness() {
        let report = Sample.report(
            Sample.findings(.imported) { $0.look { $0.objects = .init(uri: 1, id: 2, label: nil) } })
        #expect(report.result("unique.uri") == .pass)
        #expect(report.result("unique.id") == .fail)
        #expect(report.result("unique.label") == .unavailable)
    }

    @Test("SoftHSM counts as software and fails unless the report accepts software")
    func software() {
        let softHSM = { (key: inout KeyFindings) in
            key.look { seen in
                seen.token?.manufacturer = "SoftHSM project"
                seen.token?.model = "SoftHSM v2"
                seen.token?.slotFlags = ["CKF_TOKEN_PRESENT", "CKF_HW_SLOT"]
            }
        }
        var findings = Sample.findings(.imported, softHSM)
        let report = Sample.report(findings)
        #expect(report.result("custody") == .fail)
        #expect(report.check("custody")?.value?.contains("not hardware") == true)
        findings.installation.acceptsSoftware = true
        let accepted = Sample.report(findings)
        #expect(accepted.result("custody") == .notApplicable)
        #expect(accepted.check("custody")?.value?.contains("not hardware") == true)
        #expect(accepted.installation.contains { $0.value.contains("--accept-software") })
    }

    @Test("a module without the hardware flag does not count as hardware")
    func unknownModule() {
        let report = Sample.report(Sample.findings(.imported) { $0.look { $0.token?.slotFlags = [] } })
        #expect(report.result("custody") == .unavailable)
    }

    @Test("a key in a file counts as software and has no token checks")
    func file() {
        let report = Sample.report(
            Sample.findings(.imported) { key in
                key.inspection = .seen(
                    KeyInspection(
                        custody: .process, fingerprint: Sample.fingerprint,
                        file: InspectedFile(path: "/k.p8", mode: "640", owner: "0:0", memory: .locked)), at: Sample.now)
            })
        #expect(report.result("custody") == .fail)
        #expect(report.check("custody")?.value?.contains("in the memory of the gateway's process") == true)
        #expect(report.result("file.mode") == .fail)
        #expect(report.result("file.memory") == .pass)
        #expect(!report.checks.contains { $0.id.hasPrefix("attribute.") || $0.id.hasPrefix("token.") })
    }

    @Test(
        "token flags that indicate PIN guessing fail", arguments: ["CKF_USER_PIN_COUNT_LOW", "CKF_USER_PIN_FINAL_TRY"])
    func pinFlags(_ flag: String) {
        let report = Sample.report(Sample.findings(.imported) { $0.look { $0.token?.flags.append(flag) } })
        #expect(report.checks.filter { $0.id.hasPrefix("token.pin") && $0.result == .fail }.count == 1)
    }

    @Test("the checks of an unreachable key are unavailable, and a refused login fails")
    func unreachable() {
        let gone = Sample.report(Sample.findings(.imported) { $0.inspection = .unseen(.unavailable("It is gone.")) })
        for id in [
            "identity.pin", "attribute.CKA_EXTRACTABLE", "probe.wrap", "unique.uri", "token.pinLocked", "custody",
        ] {
            #expect(gone.result(id) == .unavailable, "\(id)")
        }
        let locked = Sample.report(
            Sample.findings(.imported) { $0.inspection = .unseen(.loginRefused("It is locked.")) })
        #expect(locked.result("token.pinLocked") == .fail)
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
        #expect(report.result("attribute.CKA_LOCAL") == .notApplicable)
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
