import StrictJSON

/// One check of a compliance report, with its result. Key backends make those about the custody of a key.
public struct ComplianceCheck: Codable, Sendable, Equatable {
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
    /// The source of the value. Empty in a backend's check: the report then says when it was read from the backend.
    public var evidence: String

    public init(
        _ id: String, _ asks: String, _ requirements: [Requirement], value: String?, expected: String, _ result: Result,
        detail: String? = nil, evidence: String = ""
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

/// A rule of a standard that a check follows, compared with its text. docs/compliance.md has the standards' scope.
public struct Requirement: Hashable, Sendable {
    public let standard: String
    public let section: String

    /// Recommendation for Key Management, part 1, revision 5.
    public static func nist57(_ section: String) -> Self { Self(standard: "NIST SP 800-57 pt 1 r5", section: section) }
    public static func pci(_ section: String) -> Requirement { Self(standard: "PCI DSS 4.0.1", section: section) }
}

extension Requirement: CustomStringConvertible {
    public var description: String { "\(standard) §\(section)" }
}

/// Its description.
extension Requirement: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let separator = text.firstRange(of: " §") else {
            throw JSONReadError(.invalid("must be the name of a standard, § and a section"))
        }
        self.init(
            standard: String(text[..<separator.lowerBound]), section: String(text[separator.upperBound...]))
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
