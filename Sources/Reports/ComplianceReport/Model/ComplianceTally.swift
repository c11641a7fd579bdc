public import SigningKit

/// The number of checks for each result.
public struct ComplianceTally: Sendable, Equatable {
    public private(set) var passed = 0
    public private(set) var failed = 0
    public private(set) var unavailable = 0
    public private(set) var notApplicable = 0

    public init(_ checks: some Sequence<ComplianceCheck>) {
        for check in checks {
            switch check.result {
            case .pass: passed += 1
            case .fail: failed += 1
            case .unavailable: unavailable += 1
            case .notApplicable: notApplicable += 1
            }
        }
    }

    public var total: Int { passed + failed + unavailable + notApplicable }

    /// `fail` takes precedence over `unavailable`, and `unavailable` over `pass`.
    public var verdict: ComplianceCheck.Result {
        failed > 0 ? .fail : unavailable > 0 ? .unavailable : passed > 0 ? .pass : .notApplicable
    }

    /// Such as `2 of 80 checks failed, 1 unavailable`.
    public var sentence: String {
        let head =
            failed > 0
            ? "\(failed) of \(total) checks failed" : passed == total ? "all checks passed" : "no check failed"
        return unavailable > 0 ? "\(head), \(unavailable) unavailable" : head
    }
}
