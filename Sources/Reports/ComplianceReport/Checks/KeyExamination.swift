internal import SigningGateway
internal import SigningKit

struct KeyExamination {
    let key: KeyFindings
    let account: AccountFindings
    let acceptsSoftware: Bool
    let now: Timestamp

    /// In the order of the report.
    var checks: [ComplianceCheck] {
        [identity, curve, custody].compactMap(\.self) + tokenChecks + fileChecks + attributeChecks + probeChecks
            + uniquenessChecks + [pairwise] + lifeChecks + jobChecks
    }

    /// Whether the key is in a file, not on a token. The URI decides if there is no inspection.
    var isInFile: Bool { key.seen.map { $0.custody == .process } ?? key.uri.hasPrefix("file:") }

    /// Makes a check from the key's inspection. Without one, the check is unavailable and says why.
    func seen(
        _ id: String, _ asks: String, _ requirements: [Requirement], expected: String,
        _ judge: (KeyInspection) -> (value: String?, result: ComplianceCheck.Result, detail: String?)
    ) -> ComplianceCheck {
        switch key.inspection {
        case .seen(let inspection, let time):
            let (value, result, detail) = judge(inspection)
            return ComplianceCheck(
                id, asks, requirements, value: value, expected: expected, result, detail: detail,
                evidence: "read from the \(inspection.custody == .token ? "token" : "file") at \(time.text)")
        case .unseen(let error):
            return ComplianceCheck(
                id, asks, requirements, value: nil, expected: expected, .unavailable, detail: "\(error)",
                evidence: "none: the key could not be reached")
        case .unsupported:
            return ComplianceCheck(
                id, asks, requirements, value: nil, expected: expected, .unavailable,
                detail: "This key's backend cannot examine its keys.", evidence: "none")
        }
    }
}

extension Timestamp {
    func days(until other: Timestamp) -> Int { Int((other.milliseconds - milliseconds) / 86_400_000) }
}
