import SigningKit

/// What a check found, its result, and the reason and the remedy.
struct Verdict {
    let value: String?
    let result: ComplianceCheck.Result
    let detail: String?

    static func pass(_ value: String, _ detail: String? = nil) -> Self {
        Self(value: value, result: .pass, detail: detail)
    }

    static func fail(_ value: String, _ detail: String? = nil) -> Self {
        Self(value: value, result: .fail, detail: detail)
    }

    static func unavailable(_ detail: String?, value: String? = nil) -> Self {
        Self(value: value, result: .unavailable, detail: detail)
    }

    static func notApplicable(_ value: String?, _ detail: String? = nil) -> Self {
        Self(value: value, result: .notApplicable, detail: detail)
    }
}

extension ComplianceCheck {
    init(
        _ id: String, _ asks: String, _ requirements: [Requirement] = [], expected: String, _ verdict: Verdict,
        evidence: String = "the configuration"
    ) {
        self.init(
            id, asks, requirements, value: verdict.value, expected: expected, verdict.result, detail: verdict.detail,
            evidence: evidence)
    }
}
