import SigningKit

extension ComplianceCheck {
    /// A check of the configuration.
    init(
        _ id: String, _ asks: String, _ requirements: [Requirement] = [], expected: String, _ verdict: ComplianceVerdict
    ) {
        self.init(id, asks, requirements, expected: expected, verdict, evidence: "the configuration")
    }
}
