internal import SigningGateway
internal import SigningKit

/// Judges one key.
struct KeyExamination {
    let key: KeyFindings
    let account: AccountFindings
    let acceptsSoftware: Bool
    let now: Timestamp

    /// In the order in which they are shown.
    var checks: [ComplianceCheck] {
        [identity, curve, custody].compactMap(\.self) + tokenChecks + fileChecks + attributeChecks + probeChecks
            + uniquenessChecks + [pairwise] + lifeChecks + ceremonyChecks
    }

    /// Whether there is no token to look at; by its URI as long as nobody has seen it.
    var isInFile: Bool { key.seen.map { $0.custody == .process } ?? key.uri.hasPrefix("file:") }

    /// What there is to see of the key, or a check that says why there is nothing.
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
                detail: "This key's backend has no way to look at its keys.", evidence: "none")
        }
    }
}

extension Timestamp {
    /// As in RFC 3339.
    var text: String { String(decoding: rfc3339, as: UTF8.self) }

    func days(until other: Timestamp) -> Int { Int((other.milliseconds - milliseconds) / 86_400_000) }
}
