import Crypto

/// A node of a Merkle tree: 32 bytes of SHA-256 (RFC 6962 §2.1).
public struct MerkleHash: Hashable, Sendable {
    public static let byteCount = 32

    private let words: SIMD4<UInt64>

    /// The hash of a tree without leaves.
    public static let empty = MerkleHash(SHA256().finalize())

    init(_ digest: SHA256Digest) {
        words = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// Nil unless there are 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        words = Array(bytes).withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// The first eight bytes as a big-endian number.
    public var prefix: UInt64 { UInt64(bigEndian: words[0]) }

    /// SHA-256 of 0x00 and the leaf's bytes.
    public static func leaf(_ body: [UInt8]) -> MerkleHash {
        var hash = SHA256()
        update(&hash, with: 0x00)
        hash.update(data: body)
        return MerkleHash(hash.finalize())
    }

    /// SHA-256 of 0x01, the left child and the right child.
    public static func node(_ left: MerkleHash, _ right: MerkleHash) -> MerkleHash {
        var hash = SHA256()
        update(&hash, with: 0x01)
        withUnsafeBytes(of: left.words) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: right.words) { hash.update(bufferPointer: $0) }
        return MerkleHash(hash.finalize())
    }

    private static func update(_ hash: inout SHA256, with byte: UInt8) {
        withUnsafeBytes(of: byte) { hash.update(bufferPointer: $0) }
    }
}

/// An append-only Merkle tree (RFC 6962 §2.1). It keeps only the roots of perfect subtrees, one per bit set in `size`.
public struct AppendOnlyTree: Sendable {
    /// The number of leaves.
    public private(set) var size = 0
    /// Sorted by size, the largest first.
    private var peaks: [MerkleHash] = []

    public init() {
        peaks.reserveCapacity(Int.bitWidth)
    }

    public init(leaves: some Sequence<MerkleHash>) {
        self.init()
        for leaf in leaves { append(leaf) }
    }

    public mutating func append(_ leaf: MerkleHash) { push(leaf, height: 0) }

    /// Appends 2^`height` leaves at once.
    ///
    /// - Returns: false, and appends nothing, unless the size is a multiple of 2^`height`.
    public mutating func append(perfectSubtree root: MerkleHash, height: Int) -> Bool {
        guard (0..<Int.bitWidth - 2).contains(height), size & (1 << height - 1) == 0, size <= Int.max - 1 << height
        else { return false }
        push(root, height: height)
        return true
    }

    /// Appends all leaves of another tree.
    ///
    /// - Returns: false, and appends nothing, if one of its perfect subtrees would be misaligned.
    public mutating func append(_ other: AppendOnlyTree) -> Bool {
        guard other.size > 0 else { return true }
        let highest = Int.bitWidth - 1 - other.size.leadingZeroBitCount
        guard size & (1 << highest - 1) == 0, size <= Int.max - other.size else { return false }
        var rest = other.size
        for peak in other.peaks {
            let height = Int.bitWidth - 1 - rest.leadingZeroBitCount
            push(peak, height: height)
            rest &= ~(1 << height)
        }
        return true
    }

    /// The hash of the whole tree. It computes one node less than there are bits set in the size.
    public var root: MerkleHash {
        guard var root = peaks.last else { return .empty }
        for peak in peaks.dropLast().reversed() { root = .node(peak, root) }
        return root
    }

    private mutating func push(_ subtree: MerkleHash, height: Int) {
        var subtree = subtree
        var carry = size >> height
        while carry & 1 == 1, let left = peaks.popLast() {
            subtree = .node(left, subtree)
            carry >>= 1
        }
        peaks.append(subtree)
        size += 1 << height
    }
}
