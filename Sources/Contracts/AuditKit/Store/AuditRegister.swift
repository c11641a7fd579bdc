public import Crypto

/// A value that the log holds beside its entries, replaced as a whole. The entry of each change holds its digest.
public struct AuditRegister: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]
    /// The index of the entry that recorded this value.
    public let entry: Int

    public init(name: String, value: [UInt8], entry: Int) {
        self.name = name
        self.value = value
        self.entry = entry
    }

    /// The digest that entries hold.
    public static func digest(of value: [UInt8]) -> SHA256Digest { SHA256.hash(data: value) }
}
