import Crypto
import Encodings

/// The SHA-256 of a token's text or of a SubjectPublicKeyInfo. It is not a secret, unless the input can be guessed.
public struct Digest256: Hashable, Sendable {
    /// The bytes in memory order.
    private let words: SIMD4<UInt64>

    /// - Returns: nil unless there are 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        let bytes = Array(bytes)
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// Parses 64 hexadecimal digits of either case, with or without the prefix `sha256:`.
    public init?(_ text: String) {
        let digits = Array((text.hasPrefix("sha256:") ? text.dropFirst("sha256:".count) : text[...]).utf8)
        guard let bytes = Hexadecimal.decode(digits) else { return nil }
        self.init(bytes: bytes)
    }

    /// Hashes the text's UTF-8.
    public init(of text: String) {
        var text = text
        words = text.withUTF8 { utf8 in
            var hash = SHA256()
            hash.update(bufferPointer: UnsafeRawBufferPointer(utf8))
            return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
        }
    }
}

extension Digest256: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public var description: String {
        withUnsafeBytes(of: words) { Hexadecimal.encode($0) }
    }
}
