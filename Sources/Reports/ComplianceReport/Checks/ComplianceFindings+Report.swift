import KeyLifecycle
import Signing
public import SigningKit

extension ComplianceFindings {
    /// Judges the findings, without a clock, a file or a token.
    ///
    /// - Parameters:
    ///   - id: A unique ID for the report.
    ///   - now: The time of the report.
    public func report(id: String, at now: Timestamp) -> ComplianceReport {
        let software = acceptsSoftware ? "taken for good (--accept-software)" : "fail the check custody"
        return ComplianceReport(
            id: id, made: now, installation: installation + [.init("Keys in software", software)],
            sections: InstallationExamination(findings: self, now: now).sections,
            keys: accounts.flatMap { account in account.keys.map { report($0, of: account, at: now) } },
            anchor: audit.anchor)
    }

    private func report(_ key: KeyFindings, of account: AccountFindings, at now: Timestamp) -> ComplianceReport.Key {
        var facts: [ComplianceReport.Fact] = [
            .init("Where", key.uri), .init("Provenance", key.knownProvenance.rawValue),
            .init("Cryptoperiod", "\(key.cryptoperiod) days"),
        ]
        facts += key.replicas.map { .init("Replica", $0.uri) }
        if let fingerprint = key.seen?.fingerprint { facts.insert(.init("Fingerprint", "\(fingerprint)"), at: 0) }
        if let life = key.life { facts.append(.init("State", "\(life.state.rawValue), since \(life.since.text)")) }
        let examination = KeyExamination(
            key: key, hasDualControl: account.hasDualControl, acceptsSoftware: acceptsSoftware, now: now)
        return ComplianceReport.Key(
            issuerID: account.issuerID, keyID: key.keyID, facts: facts + (key.seen?.facts ?? []),
            checks: examination.checks, history: key.life?.history ?? [])
    }
}
