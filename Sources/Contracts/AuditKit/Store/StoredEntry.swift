public import TransparencyLog

/// An entry and its index in the log.
public struct StoredEntry: Sendable {
    public let index: Int
    /// Canonical JSON, the input of the leaf hash.
    public let body: [UInt8]
    /// See `mark(of:at:)`. It shows which entry changed. The tree alone shows only that one did.
    public let mark: UInt64

    public init(index: Int, body: [UInt8], mark: UInt64) {
        self.index = index
        self.body = body
        self.mark = mark
    }

    /// The first eight bytes of the leaf hash as a big-endian number, XOR the index. A changed entry does not fit its
    /// mark, nor does an entry moved together with its mark.
    public static func mark(of leaf: MerkleHash, at index: Int) -> UInt64 { leaf.prefix ^ UInt64(index) }
}

/// Segments of entries are the unit of indexing and archiving.
public enum AuditSegment {
    /// 2¹², so that a segment is a perfect subtree (RFC 6962 §2.1).
    public static let size = 4096
    /// The height of that subtree.
    public static let height = 12
}
