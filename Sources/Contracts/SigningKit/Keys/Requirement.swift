/// A rule of a standard that a check follows, compared with its text. docs/compliance.md has the standards' scope.
public struct Requirement: Hashable, Sendable {
    public let standard: String
    public let section: String

    private init(_ standard: String, _ section: String) {
        self.standard = standard
        self.section = section
    }

    /// Recommendation for Key Management, part 1, revision 5.
    public static func nist57(_ section: String) -> Requirement { Requirement("NIST SP 800-57 pt 1 r5", section) }
    public static func pci(_ section: String) -> Requirement { Requirement("PCI DSS 4.0.1", section) }
}

extension Requirement: CustomStringConvertible {
    public var description: String { "\(standard) §\(section)" }
}

extension Requirement: Encodable {
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
