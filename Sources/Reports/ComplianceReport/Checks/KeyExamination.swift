import KeyLifecycle
import SigningKit

struct KeyExamination {
    let key: KeyFindings
    let account: AccountFindings
    let acceptsSoftware: Bool
    let now: Timestamp

    /// In the order of the report.
    var checks: [ComplianceCheck] {
        let ofBackend = backendChecks
        let identities = ofBackend.filter { $0.id.hasPrefix("identity.") }
        return [identity] + identities + [custody] + ofBackend.filter { !$0.id.hasPrefix("identity.") } + [pairwise]
            + lifeChecks + jobChecks
    }

    /// The checks that the key's backend made.
    private var backendChecks: [ComplianceCheck] {
        let (checks, evidence): ([ComplianceCheck], String) =
            switch key.inspection {
            case .seen(let inspection, let time):
                (inspection.checks, "read from the \(inspection.holder) at \(time.text)")
            case .unseen(_, let checks): (checks, "none: the key could not be reached")
            case .unsupported: ([], "none")
            }
        return checks.map { check in
            var check = check
            if check.evidence.isEmpty { check.evidence = evidence }
            return check
        }
    }

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
                evidence: "read from the \(inspection.holder) at \(time.text)")
        case .unseen(let error, _):
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

extension KeyInspection {
    /// The holder of the key, for texts.
    var holder: String {
        switch custody {
        case .process: "file"
        case .token: "token"
        case .service: "service"
        }
    }
}

extension Timestamp {
    func days(until other: Timestamp) -> Int { Int((other.milliseconds - milliseconds) / 86_400_000) }
}
