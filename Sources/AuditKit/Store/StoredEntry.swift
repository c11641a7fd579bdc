public import TransparencyLog

/// An entry with its place in the log.
public struct StoredEntry: Sendable {
    public let index: Int
    /// Canonical JSON: what the tree's leaf is made of.
    public let body: [UInt8]
    /// See `mark(of:at:)`. Tells which entry was changed, where the tree alone tells only that one was.
    public let mark: UInt64

    public init(index: Int, body: [UInt8], mark: UInt64) {
        self.index = index
        self.body = body
        self.mark = mark
    }

    /// The first eight bytes of the leaf's hash as a big-endian number, XOR the index: an entry that was changed, or moved
    /// with its mark, does not fit it any more.
    public static func mark(of leaf: MerkleHash, at index: Int) -> UInt64 { leaf.prefix ^ UInt64(index) }
}

/// Entries are closed off in segments of this many: the unit of indexing and archiving.
public enum AuditSegment {
    /// 2¹², so that a segment is a perfect subtree (RFC 6962 §2.1).
    public static let size = 4096
    /// Of the subtree.
    public static let height = 12
}
