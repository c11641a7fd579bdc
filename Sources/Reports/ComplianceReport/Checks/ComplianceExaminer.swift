import KeyLifecycle
import Signing
public import SigningKit

/// Makes the report from the findings, without a clock, a file or a token.
public struct ComplianceExaminer {
    private let findings: ComplianceFindings
    private let now: Timestamp

    public init(_ findings: ComplianceFindings, at now: Timestamp) {
        self.findings = findings
        self.now = now
    }

    /// - Parameter id: A unique ID for the report.
    public func report(id: String) -> ComplianceReport {
        let installation = findings.installation
        return ComplianceReport(
            id: id, made: now,
            installation: [
                .init("Host", installation.host), .init("Made by", installation.actor),
                .init("PrivySeal", installation.version), .init("Configuration", installation.configuration),
                .init("Its SHA-256", installation.configurationDigest),
                .init(
                    "Keys in software",
                    installation.acceptsSoftware ? "taken for good (--accept-software)" : "fail the check custody"),
            ],
            sections: InstallationExamination(findings: findings, now: now).sections,
            keys: findings.accounts.flatMap { account in account.keys.map { key($0, of: account) } },
            anchor: findings.audit.anchor)
    }

    private func key(_ key: KeyFindings, of account: AccountFindings) -> ComplianceReport.Key {
        let examination = KeyExamination(
            key: key, account: account, acceptsSoftware: findings.installation.acceptsSoftware, now: now)
        return ComplianceReport.Key(
            issuerID: account.issuerID, keyID: key.keyID, facts: facts(key), checks: examination.checks,
            history: (key.life?.history ?? []).map { change in
                ComplianceReport.HistoryLine(
                    time: change.time, action: change.action.rawValue,
                    change: (change.from.map { "\($0.rawValue) → " } ?? "") + change.to.rawValue, actor: change.actor,
                    approver: change.approver, reason: change.reason)
            })
    }

    private func facts(_ key: KeyFindings) -> [ComplianceReport.Fact] {
        var facts: [ComplianceReport.Fact] = [
            .init("Where", key.uri), .init("Provenance", key.knownProvenance.rawValue),
            .init("Cryptoperiod", "\(key.cryptoperiod) days"),
        ]
        if let fingerprint = key.seen?.fingerprint { facts.insert(.init("Fingerprint", "\(fingerprint)"), at: 0) }
        if let life = key.life { facts.append(.init("State", "\(life.state.rawValue), since \(life.since.text)")) }
        return facts + (key.seen?.facts ?? []).map { .init($0.name, $0.value) }
    }
}
