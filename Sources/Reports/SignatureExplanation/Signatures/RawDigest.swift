import Crypto
import Encodings
import FoundationEssentials

/// The 32-byte input of ECDSA over P-256. A longer digest is cut to its first 32 bytes, and a shorter one gets leading
/// zeros (FIPS 186-5 §6.4.2). The result of every hashing mistake therefore has 32 bytes, too.
///
/// FoundationEssentials is imported for `ContiguousBytes`, which `Digest` requires.
struct RawDigest: Digest {
    static let byteCount = 32
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
