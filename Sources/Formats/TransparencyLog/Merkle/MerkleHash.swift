import Crypto

/// A node of a Merkle tree: 32 bytes of SHA-256 (RFC 6962 §2.1).
public struct MerkleHash: Hashable, Sendable {
    public static let byteCount = 32

    private let words: InlineArray<4, UInt64>

    /// The hash of a tree without leaves.
    public static let empty = MerkleHash(SHA256().finalize())

    init(_ digest: SHA256Digest) {
        words = digest.withUnsafeBytes { bytes in
            InlineArray { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
    }

    /// Nil unless there are 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        let bytes = Array(bytes)
        words = bytes.withUnsafeBytes { bytes in
            InlineArray { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
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

    public static func == (left: MerkleHash, right: MerkleHash) -> Bool {
        left.words[0] == right.words[0] && left.words[1] == right.words[1] && left.words[2] == right.words[2]
            && left.words[3] == right.words[3]
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}
