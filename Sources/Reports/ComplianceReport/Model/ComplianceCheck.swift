/// One check of a report, with its result.
public struct ComplianceCheck: Encodable, Sendable, Equatable {
    public enum Result: String, Codable, CaseIterable, Sendable {
        case pass, fail
        /// The value could not be read, or the expected value is not known. Never counted as a pass.
        case unavailable
        /// The check does not apply, or it reports a value without a verdict.
        case notApplicable
    }

    /// A stable ID for programs and for comparing reports, such as `attribute.CKA_EXTRACTABLE`.
    public var id: String
    /// The check as a question to the reader.
    public var asks: String
    public var requirements: [Requirement]
    /// The value found; nil if it could not be read.
    public var value: String?
    public var expected: String
    public var result: Result
    /// The reason and the remedy.
    public var detail: String?
    /// The source of the value.
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

    /// A check that finds `expected`, or fails.
    ///
    /// - Parameters:
    ///   - found: The other value; nil if the check passes.
    ///   - detail: Of a failure only.
    init(
        _ id: String, _ asks: String, _ requirements: [Requirement], fails found: String?, expected: String,
        detail: String, evidence: String
    ) {
        self.init(
            id, asks, requirements, value: found ?? expected, expected: expected, found == nil ? .pass : .fail,
            detail: found == nil ? nil : detail, evidence: evidence)
    }
}

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
