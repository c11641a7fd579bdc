import SigningKit

extension ComplianceCheck {
    /// A check that finds `expected`, or fails.
    ///
    /// - Parameters:
    ///   - found: the other value; nil if the check passes.
    ///   - detail: of a failure only.
    init(
        _ id: String, _ asks: String, _ requirements: [Requirement], fails found: String?, expected: String,
        detail: String, evidence: String
    ) {
        self.init(
            id, asks, requirements, value: found ?? expected, expected: expected, found == nil ? .pass : .fail,
            detail: found == nil ? nil : detail, evidence: evidence)
    }
}
