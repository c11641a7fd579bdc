import KeyLifecycle
import SigningKit

struct KeyExamination {
    let key: KeyFindings
    /// Whether the key's account requires two administrators.
    let hasDualControl: Bool
    let acceptsSoftware: Bool
    let now: Timestamp

    /// In the order of the report.
    var checks: [ComplianceCheck] {
        placeChecks + [state, period, retireAt, history, job, twoPeople] + replicaChecks
    }

    /// The checks about the key at its first place.
    var placeChecks: [ComplianceCheck] {
        let ofBackend = backendChecks
        return [identity] + ofBackend.filter { $0.id.hasPrefix("identity.") } + [custody]
            + ofBackend.filter { !$0.id.hasPrefix("identity.") } + [pairwise]
    }

    /// The checks that the key's backend made.
    private var backendChecks: [ComplianceCheck] {
        var checks =
            switch key.inspection {
            case .seen(let inspection, _): inspection.checks
            case .unseen(_, let checks): checks
            case .unsupported: [ComplianceCheck]()
            }
        for index in checks.indices where checks[index].evidence.isEmpty {
            checks[index].evidence = inspectionEvidence
        }
        return checks
    }

    private var inspectionEvidence: String {
        switch key.inspection {
        case .seen(let inspection, let time): "read from the \(inspection.holder) at \(time.text)"
        case .unseen: "none: the key could not be reached"
        case .unsupported: "none"
        }
    }

    /// Makes a check from the key's inspection. Without one, the check is unavailable and says why.
    func seen(
        _ id: String, _ asks: String, _ requirements: [Requirement], expected: String,
        _ judge: (KeyInspection) -> ComplianceVerdict
    ) -> ComplianceCheck {
        let verdict: ComplianceVerdict =
            switch key.inspection {
            case .seen(let inspection, _): judge(inspection)
            case .unseen(let error, _): .unavailable("\(error)")
            case .unsupported: .unavailable("This key's backend cannot examine its keys.")
            }
        return ComplianceCheck(id, asks, requirements, expected: expected, verdict, evidence: inspectionEvidence)
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
