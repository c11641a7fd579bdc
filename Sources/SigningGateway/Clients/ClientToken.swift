import Base64

/// What a client shows to prove who it is: `privyseal_`, 32 random bytes in Base64url (43 characters), `_`, and a checksum of
/// six characters.
///
/// The prefix is what scanners for leaked secrets look for; the checksum, the CRC-32 of all before it, tells a token that was
/// cut or mistyped from one that is not known. Whoever has the text is the client, so it has no description.
public struct ClientToken: Sendable {
    public static let prefix = "privyseal_"
    /// In characters, all of them ASCII.
    public static let length = prefix.utf8.count + 43 + 1 + 6

    /// The whole token. To be shown once, and then forgotten.
    public let text: String

    /// What the configuration holds of it.
    public var digest: Digest256 { Digest256(of: text) }

    /// A new token of 256 random bits from the kernel.
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
        // The random part may hold a `_` of its own: places count, not separators.
        guard characters[body.endIndex] == UInt8(ascii: "_"), Base64.url.decode(body.dropFirst(prefix.count)) != nil
        else { throw .notAToken }
        guard Self.checksum(of: body).elementsEqual(characters.suffix(6)) else { throw .checksum }
        self.text = text
    }

    // MARK: The checksum

    /// The CRC-32 in base 62 (0–9, A–Z, a–z), six digits, the highest first.
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

    /// CRC-32 as in IEEE 802.3 §3.2.9 and gzip (RFC 1952 §8), bit by bit: it is needed when a token is minted, and for one
    /// that is refused.
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

/// Why a text is not a token. For the operator: a caller is told nothing of it.
public enum ClientTokenError: Error, Equatable, Sendable {
    /// It is not of the shape.
    case notAToken
    /// It begins as a token does, but has so many bytes.
    case length(Int)
    /// Its checksum does not fit: a character is wrong.
    case checksum
}

extension ClientTokenError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAToken: "it is not a token of this program's"
        case .length(let count): "it has \(count) characters; a token has \(ClientToken.length)"
        case .checksum: "its checksum is wrong: a character is mistyped"
        }
    }
}
