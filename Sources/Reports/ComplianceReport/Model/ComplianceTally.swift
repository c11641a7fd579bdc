public import SigningKit

/// The number of checks for each result.
public struct ComplianceTally: Sendable, Equatable {
    private var counts: [ComplianceCheck.Result: Int] = [:]

    public init(_ checks: some Sequence<ComplianceCheck>) {
        for check in checks { counts[check.result, default: 0] += 1 }
    }

    public var passed: Int { counts[.pass] ?? 0 }
    public var failed: Int { counts[.fail] ?? 0 }
    public var unavailable: Int { counts[.unavailable] ?? 0 }
    public var notApplicable: Int { counts[.notApplicable] ?? 0 }

    /// `fail` takes precedence over `unavailable`, and `unavailable` over `pass`.
    public var verdict: ComplianceCheck.Result {
        [.fail, .unavailable, .pass].first { counts[$0] != nil } ?? .notApplicable
    }

    /// Such as `2 of 80 checks failed, 1 unavailable`.
    public var sentence: String {
        let total = counts.values.reduce(0, +)
        let head =
            failed > 0
            ? "\(failed) of \(total) checks failed" : passed == total ? "all checks passed" : "no check failed"
        return unavailable > 0 ? "\(head), \(unavailable) unavailable" : head
    }
}
