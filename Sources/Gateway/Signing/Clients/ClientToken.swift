import Crypto
import Encodings

/// The secret of a client: `privyseal_`, 32 random bytes in Base64url (43 characters), `_`, and a checksum of six
/// characters. Its descriptions are redacted.
///
/// Scanners for leaked secrets find it by the prefix. The checksum, the CRC-32 of the prefix and the 43 characters,
/// distinguishes a truncated or mistyped token from an unknown one.
public struct ClientToken: Sendable {
    public static let prefix = "privyseal_"
    /// In ASCII characters.
    public static let length = prefix.utf8.count + 43 + 1 + 6

    /// The whole token. Show it once, and do not store it.
    public let text: String

    /// The digest for the configuration.
    public var digest: Digest256 { Digest256(of: text) }

    /// Makes a token with 256 random bits from the kernel.
    public static func mint() -> ClientToken {
        var random = SystemRandomNumberGenerator()
        return ClientToken(random: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// - Parameter random: 32 bytes.
    init(random: [UInt8]) {
        let body = Array(Self.prefix.utf8) + Base64.url.encode(random)
        text = String(decoding: body + [UInt8(ascii: "_")] + Self.checksum(of: body), as: UTF8.self)
    }

    public init(_ text: String) throws(ClientTokenError) {
        let characters = Array(text.utf8)
        let prefix = Array(Self.prefix.utf8)
        guard characters.starts(with: prefix) else { throw .notAToken }
        guard characters.count == Self.length else { throw .length(characters.count) }
        let body = characters.prefix(prefix.count + 43)
        // The random part may contain `_`, so the parts are found by position.
        guard characters[body.endIndex] == UInt8(ascii: "_"), Base64.url.decode(body.dropFirst(prefix.count)) != nil
        else { throw .notAToken }
        guard Self.checksum(of: body).elementsEqual(characters.suffix(6)) else { throw .checksum }
        self.text = text
    }

    // MARK: Checksum

    /// The CRC-32 as six digits in base 62 (0–9, A–Z, a–z), the most significant first.
    private static func checksum(of body: some Sequence<UInt8>) -> [UInt8] {
        var rest = crc32(of: body)
        var digits: [UInt8] = []
        for _ in 0..<6 {
            digits.append(base62[Int(rest % 62)])
            rest /= 62
        }
        return digits.reversed()
    }

    private static let base62 = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// CRC-32 as in IEEE 802.3 §3.2.9 and gzip (RFC 1952 §8), bit by bit: only new and refused tokens need it.
    private static func crc32(of bytes: some Sequence<UInt8>) -> UInt32 {
        var remainder: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }
}

extension ClientToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a text is not a token. This is for the operator; the caller does not see it.
public enum ClientTokenError: Error, Equatable, Sendable {
    /// It does not have the form of a token.
    case notAToken
    /// It has the prefix, but this wrong number of bytes.
    case length(Int)
    /// Its checksum is wrong: a character is mistyped.
    case checksum
}

extension ClientTokenError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAToken: "the header Authorization is not Bearer with a token of PrivySeal"
        case .length(let count): "it has \(count) characters; a token has \(ClientToken.length)"
        case .checksum: "its checksum is wrong: a character is mistyped"
        }
    }
}

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
    public var description: String { withUnsafeBytes(of: words) { Hexadecimal.encode($0) } }
}
