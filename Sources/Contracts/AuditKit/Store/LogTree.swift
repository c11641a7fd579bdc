import Crypto
import Encodings
public import TransparencyLog

/// The Merkle tree of a log. It computes the root of each segment that closes.
public struct LogTree: Sendable {
    /// The tree over the closed segments.
    private var closed = AppendOnlyTree()
    /// The tree over the entries after them.
    private var open = AppendOnlyTree()

    public init() {}

    /// The number of entries.
    public var size: Int { closed.size + open.size }

    public var root: MerkleHash {
        var whole = closed
        // Always true: `open` is smaller than a segment.
        _ = whole.append(open)
        return whole.root
    }

    /// - Returns: the segment that the leaf completes.
    public mutating func append(_ leaf: MerkleHash) -> (number: Int, root: MerkleHash)? {
        open.append(leaf)
        guard open.size == AuditSegment.size else { return nil }
        let root = open.root
        defer { append(segment: root) }
        return (closed.size / AuditSegment.size, root)
    }

    /// Appends a whole segment by its root. The tree must end at a segment boundary.
    public mutating func append(segment root: MerkleHash) {
        // Always true: `closed` holds whole segments only.
        _ = closed.append(perfectSubtree: root, height: AuditSegment.height)
        open = AppendOnlyTree()
    }
}

/// Binds all registers to the signed tree head, as one line of it. Without the log's key, a register cannot be changed,
/// restored, added or removed, even if the entries that record it are archived.
public enum RegistersLine {
    private static let prefix = "registers "

    /// The line is `registers`, a space, and the Base64 of a SHA-256. The hash covers all registers, sorted by the
    /// bytes of their names. Each contributes its name's length, its name, its entry's index and the SHA-256 of its
    /// value. Numbers are 8 bytes, big-endian.
    public static func line(over registers: some Sequence<AuditRegister>) -> String {
        var hash = SHA256()
        for register in registers.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            let name = Array(register.name.utf8)
            hash.update(data: bytes(of: name.count) + name + bytes(of: register.entry))
            hash.update(data: Array(AuditRegister.digest(of: register.value)))
        }
        return prefix + String(decoding: Base64.standard.encode(Array(hash.finalize())), as: UTF8.self)
    }

    /// The `registers` line of a checkpoint. Nil if an older version signed it (ADR 41).
    public static func line(in checkpoint: Checkpoint) -> String? {
        checkpoint.extensions.first { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian) { Array($0) }
    }
}
