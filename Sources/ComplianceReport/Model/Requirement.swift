/// What a check serves: a place in a standard.
public struct Requirement: Hashable, Sendable {
    public let standard: String
    public let section: String

    private init(_ standard: String, _ section: String) {
        self.standard = standard
        self.section = section
    }

    /// Recommendation for Key Management, part 1, revision 5.
    static func nist57(_ section: String) -> Requirement { Requirement("NIST SP 800-57 pt 1 r5", section) }
    /// A Framework for Designing Cryptographic Key Management Systems.
    static func nist130(_ section: String) -> Requirement { Requirement("NIST SP 800-130", section) }
    static func pci(_ section: String) -> Requirement { Requirement("PCI DSS 4.0.1", section) }
    /// FIPS 140-3 takes its sections from ISO/IEC 19790:2012.
    static func fips(_ section: String) -> Requirement { Requirement("FIPS 140-3", section) }
}

extension Requirement: CustomStringConvertible {
    public var description: String { "\(standard) §\(section)" }
}
