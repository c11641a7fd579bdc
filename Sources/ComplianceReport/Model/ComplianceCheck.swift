/// One thing that was looked at.
public struct ComplianceCheck: Sendable, Equatable {
    public enum Result: String, CaseIterable, Sendable {
        case pass, fail
        /// It could not be looked at, or nobody has said what it should be. Never counted as a pass.
        case unavailable
        /// There is nothing here that the check could be about; or it is told, and there is no right or wrong.
        case notApplicable
    }

    /// Such as `attribute.CKA_EXTRACTABLE`: what machines and other reports know it by.
    public var id: String
    /// A question, for people.
    public var asks: String
    public var requirements: [Requirement]
    /// What was found; nil where it could not be looked at.
    public var value: String?
    public var expected: String
    public var result: Result
    /// Why, and the cure.
    public var detail: String?
    /// Where the value is from.
    public var evidence: String

    public init(
        _ id: String, _ asks: String, _ requirements: [Requirement], value: String?, expected: String, _ result: Result,
        detail: String? = nil, evidence: String
    ) {
        self.id = id
        self.asks = asks
        self.requirements = requirements
        self.value = value
        self.expected = expected
        self.result = result
        self.detail = detail
        self.evidence = evidence
    }
}

/// How many checks came out in which way.
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

    /// A failure outweighs what is unavailable, and that outweighs what passed.
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
