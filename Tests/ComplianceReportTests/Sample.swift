import ComplianceReport
import Crypto
import Signing
import SigningKit
import StrictJSON
import TransparencyLog

@testable import KeyLifecycle

/// Findings about a correct installation. Each test changes one of them.
enum Sample {
    static let now = Timestamp(rfc3339: Array("2026-11-21T12:00:00.000Z".utf8)) ?? Timestamp(milliseconds: 0)
    static let fingerprint = PublicKeyFingerprint("sha256:" + String(repeating: "ab", count: 32))
    static let other = PublicKeyFingerprint("sha256:" + String(repeating: "cd", count: 32))

    static func before(days: Int) -> Timestamp { Timestamp(milliseconds: now.milliseconds - Int64(days) * 86_400_000) }

    static func findings(_ change: (inout ComplianceFindings) -> Void = { _ in }) -> ComplianceFindings {
        var findings = ComplianceFindings(
            installation: [
                .init("Host", "gateway"), .init("Made by", "uid 0"), .init("Configuration", "/etc/gateway.yaml"),
                .init("Its SHA-256", String(repeating: "0", count: 64)),
            ],
            acceptsSoftware: false, accounts: [("issuer", hasDualControl: true, keys: [key(.imported)])],
            register: .known(differences: [], jobs: [], proposals: []),
            clients: [
                (name: "shop", isAdministrator: false, proofs: ["uid 1"], reach: ["apps com.example"]),
                (name: "anna", isAdministrator: true, proofs: ["uid 2"], reach: []),
                (name: "bert", isAdministrator: true, proofs: ["uid 3"], reach: []),
            ],
            allowsAnonymous: false,
            listeners: [
                (
                    role: "public", address: "0.0.0.0:8443",
                    protection: .tls(version: "1.2", clientCertificates: "required")
                )
            ],
            signers: .running(
                processes: [(name: "hsm", process: 12, layers: ["session", "systemCalls"], missing: [:], limits: [])],
                inProcess: [],
                withoutRecord: 0),
            audit: .verified(
                (
                    anchor: nil, entries: 7, faultCount: 0, faults: [], externalChecked: 2,
                    secondPlace: .otherFileSystem
                )),
            drills: .read(drills(DrillFinding.scenarios.compactMap { drill($0) })))
        change(&findings)
        return findings
    }

    static func drill(
        _ scenario: String, days: Int = 3, isPassed: Bool = true, isTemporary: Bool = false
    ) -> DrillFinding? {
        let id = "\(String(decoding: before(days: days).rfc3339.prefix(10), as: UTF8.self))Z-\(scenario)"
        let text = """
            {"version":1,"id":"\(id)","scenario":"\(scenario)","ended":"\(before(days: days).text)",\
            "verdict":"\(isPassed ? "passed" : "failed")","gateway":{"throwAway":\(isTemporary)},\
            "audit":{"checkpoint":"note"}}
            """
        let root = try? JSONDocument(parsing: Array(text.utf8)).root
        return root.flatMap { try? DrillFinding(from: $0, file: "/drills/\(id).json", digest: "digest of \(id)") }
    }

    /// The log has an entry for each record, in the order in which the drills ended.
    static func drills(_ records: [DrillFinding], complaints: [String] = []) -> DrillEvidence {
        let logged = records.sorted { $0.ended < $1.ended }.enumerated().map { index, record in
            LoggedDrill(entry: index, id: record.id, digest: record.digest, isPassed: record.isPassed)
        }
        return DrillEvidence(directory: "/drills", records: records, logged: logged, complaints: complaints)
    }

    static func findings(
        _ provenance: KeyProvenance, _ change: (inout KeyFindings) -> Void
    ) -> ComplianceFindings {
        findings { findings in
            var key = key(provenance)
            change(&key)
            findings.accounts[0].keys = [key]
        }
    }

    static func key(_ provenance: KeyProvenance) -> KeyFindings {
        var key = KeyFindings(
            keyID: "KEY0000001", uri: "pkcs11:token=a;object=KEY0000001", pinned: fingerprint, cryptoperiod: 730,
            provenance: .unknown, life: life(provenance))
        key.inspection = .seen(inspection(provenance), at: now)
        key.proof = .valid(at: now)
        return key
    }

    /// As a backend with checks of its own reports a key.
    static func inspection(_ provenance: KeyProvenance) -> KeyInspection {
        KeyInspection(
            custody: .token, protection: .init(.hardware, "a token in hardware (A maker, Model 5)"),
            fingerprint: fingerprint, facts: [.init("Token", "a"), .init("Serial number", "123")],
            checks: [
                ComplianceCheck(
                    "attribute.CKA_EXTRACTABLE", "Can it never leave wrapped?", [.nist57("6")], value: "FALSE",
                    expected: "FALSE", .pass),
                ComplianceCheck(
                    "attribute.CKA_LOCAL", "Was it made where the record says?", [], value: provenance.rawValue,
                    expected: provenance.rawValue, provenance == .generated ? .pass : .notApplicable),
            ])
    }

    static func life(_ provenance: KeyProvenance) -> KeyLifecycleRecord {
        let arrival = KeyLifecycleChange(
            time: before(days: 400), action: provenance == .generated ? .generate : .import, from: nil, to: .staged,
            actor: "anna", approver: "bert", reason: "A new key", evidence: ["reported.method": "unwrapped"])
        let activation = KeyLifecycleChange(
            time: before(days: 399), action: .activate, from: .staged, to: .active, actor: "anna", approver: "bert",
            reason: "The yearly change")
        return KeyLifecycleRecord(
            issuerID: "issuer", keyID: "KEY0000001", state: .active, since: activation.time, provenance: provenance,
            fingerprint: fingerprint, history: [arrival, activation])
    }

    static func report(_ findings: ComplianceFindings) -> ComplianceReport {
        findings.report(id: "20261121T120000Z-00000000", at: now)
    }
}

extension ComplianceReport {
    /// The only check with this ID; nil if there are none or several.
    func check(_ id: String) -> ComplianceCheck? {
        let found = checks.filter { $0.id == id }
        return found.count == 1 ? found[0] : nil
    }

    func result(_ id: String) -> ComplianceCheck.Result? { check(id)?.result }
}

extension KeyFindings {
    mutating func look(_ change: (inout KeyInspection) -> Void) {
        guard case .seen(var seen, let time) = inspection else { return }
        change(&seen)
        inspection = .seen(seen, at: time)
    }
}

extension ComplianceCheck {
    mutating func fail(with value: String) {
        (self.value, result, detail) = (value, .fail, "Assume that it was copied.")
    }
}
