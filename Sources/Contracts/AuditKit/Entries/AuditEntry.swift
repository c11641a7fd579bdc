public import Crypto
import Encodings
public import SigningKit
import StrictJSON

/// An entry as the store holds it: canonical JSON, the input of the Merkle tree's leaf hash. Members are in
/// alphabetical order, numbers are integers, and there is no white space (RFC 8785).
public struct AuditEntry: Hashable, Sendable {
    /// The version of the entry format in `docs/audit-format.md`.
    public static let version = 1

    public let bytes: [UInt8]

    /// - Parameter time: when the event happened.
    public init(_ event: AuditEvent, at time: Timestamp) {
        let common: [EntryMember] = [("kind", event.kind), ("time", time), ("v", Self.version)]
        var writer = JSONWriter(capacity: 640)
        writer.object { writer in
            // A request waits for this. The names of an event are nearly in order, and short, so the sort is fast.
            for member in (event.members + common).sorted(by: { $0.name < $1.name }) {
                writer.name(escaping: member.name)
                member.value.write(to: &writer)
            }
        }
        bytes = writer.bytes
    }
}

typealias EntryMember = (name: String, value: any EntryValue)

/// A type that entries have as a member.
protocol EntryValue: Sendable {
    func write(to writer: inout JSONWriter)
}

extension String: EntryValue {
    func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Int: EntryValue {
    func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Timestamp: EntryValue {
    func write(to writer: inout JSONWriter) { writer.unescaped(rfc3339) }
}

extension [String]: EntryValue {
    func write(to writer: inout JSONWriter) {
        writer.array { writer in for text in self { writer.string(text) } }
    }
}

extension Dictionary: EntryValue where Key == String, Value: EntryValue {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                value.write(to: &writer)
            }
        }
    }
}

/// Characters that need no escapes, such as Base64url.
struct UnescapedText: EntryValue {
    private let characters: [UInt8]

    init(_ characters: [UInt8]) {
        self.characters = characters
    }

    /// - Parameter bytes: a SHA-256 or other bytes.
    init(base64 bytes: [UInt8]) {
        characters = Base64.url.encode(bytes)
    }

    func write(to writer: inout JSONWriter) { writer.unescaped(characters) }
}

/// A keyed hash that stands for a user in the log. With the log's key, a reader can find the entries of a known user.
/// Without that key, the hash does not reveal the user.
public struct UserHash: Sendable {
    /// The `info` input that derives the hash key from the log's key (HKDF, RFC 5869).
    public static let purpose = "privyseal audit user hash v1"

    /// HMAC state with the key blocks already hashed: two of the four SHA-256 blocks are computed only once.
    private let keyed: HMAC<SHA256>

    /// - Parameter secret: 32 bytes, derived for `purpose` only.
    public init(secret: SymmetricKey) {
        keyed = HMAC(key: secret)
    }

    /// The first 16 bytes of HMAC-SHA-256 over the identifier's UTF-8, as 22 characters of Base64url.
    public func text(of user: String) -> [UInt8] {
        var code = keyed
        code.update(data: Array(user.utf8))
        return Base64.url.encode(Array(code.finalize().prefix(16)))
    }
}
