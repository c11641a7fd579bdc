import Crypto
import FoundationEssentials

/// The 32 bytes that ECDSA over P-256 sees, whatever made them. A longer digest is cut to its first 32 bytes, a shorter
/// one is a smaller number (FIPS 186-5 §6.4.2), so every mistake of hashing ends in 32 bytes, too.
///
/// `Digest` asks for `ContiguousBytes`, which is why FoundationEssentials is here.
struct RawDigest: Digest {
    static let byteCount = 32
    /// 32 bytes.
    let bytes: [UInt8]

    init(_ digest: some Sequence<UInt8>) {
        let bytes = Array(digest.prefix(Self.byteCount))
        self.bytes = Array(repeating: 0, count: Self.byteCount - bytes.count) + bytes
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    var description: String { Hexadecimal.encode(bytes) }
}
