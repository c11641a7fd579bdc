public import Crypto

/// A value that the log holds besides its entries, and that is replaced as a whole. The entry that tells of each
/// change holds the value's digest.
public struct AuditRegister: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]
    /// The index of the entry that tells how it came to be.
    public let entry: Int

    public init(name: String, value: [UInt8], entry: Int) {
        self.name = name
        self.value = value
        self.entry = entry
    }

    /// As entries have it.
    public static func digest(of value: [UInt8]) -> SHA256Digest { SHA256.hash(data: value) }
}
