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

/// An event that the audit log records: its kind, and the members of its entry except kind, time and version.
public struct AuditEvent: Sendable {
    let kind: String
    let members: [EntryMember]

    init(_ kind: String, _ members: KeyValuePairs<String, (any EntryValue)?> = [:]) {
        self.kind = kind
        self.members = members.compactMap { name, value in value.map { (name, $0) } }
    }

    public static let kinds = [
        "signature", "refusal", "refusals", "start", "stop", "reload", "client", "key", "token", "life", "report",
        "verification", "archive", "moved", "continued", "outage", "clock", "idle", "handout",
        "checkpoint",
    ]
}

// MARK: Requests

extension AuditEvent {
    /// A released signature. It holds no payload, no signature, and only a keyed hash of the user.
    ///
    /// - Parameters:
    ///   - fingerprint: Base64url of the SHA-256 of the key's SubjectPublicKeyInfo.
    ///   - tokenSerial: the serial number of the token that signed; nil for a key in a file.
    ///   - user: a keyed hash, see `UserHash`; nil if the request names no user.
    ///   - digest: SHA-256 of the signing input.
    ///   - issued: when the signature was made.
    ///   - expires: the end of a token, which is recorded if the token is long-lived; nil for everything else.
    ///   - item: position in a batch, from 0; nil for a single request.
    ///   - keyMicroseconds: from the call of the key to the verified signature.
    ///   - requestMicroseconds: from the request's arrival to the creation of this event.
    public static func signature(
        client: String, app: String, feature: String, keyID: String, fingerprint: [UInt8], tokenSerial: String?,
        subject: OfferSubject, user: [UInt8]?, digest: SHA256Digest, issued: Timestamp, expires: Timestamp?,
        nonce: Nonce, requestID: String, item: Int?, keyMicroseconds: Int, requestMicroseconds: Int
    ) -> AuditEvent {
        let took = ["key": keyMicroseconds, "request": requestMicroseconds]
        return AuditEvent(
            "signature",
            [
                "app": app, "client": client, "digest": UnescapedText(base64: Array(digest)),
                "expires": longLived(expires, issued), "feature": feature, "fingerprint": UnescapedText(fingerprint),
                "item": item, "key": keyID, "nonce": UnescapedText(nonce.text), "offers": subject.offers,
                "products": subject.products, "requestId": requestID, "tokenSerial": tokenSerial, "took": took,
                "user": user.map { UnescapedText($0) },
            ])
    }

    /// A service token that was given to a client. Several clients may get the same token.
    ///
    /// - Parameters:
    ///   - app: the path of the service, such as `services/push`, as in the entry of the signature.
    ///   - feature: the profile.
    ///   - digest: SHA-256 of the signing input, as in the entry of the signature.
    ///   - issued: as for the signature.
    ///   - expires: as for the signature.
    public static func handOut(
        client: String, app: String, feature: String, keyID: String, digest: SHA256Digest, issued: Timestamp,
        expires: Timestamp?, requestID: String
    ) -> AuditEvent {
        AuditEvent(
            "handout",
            [
                "app": app, "client": client, "digest": UnescapedText(base64: Array(digest)),
                "expires": longLived(expires, issued), "feature": feature, "key": keyID, "requestId": requestID,
            ])
    }

    /// The end of a token whose lifetime is that of a `LongLivedToken` or longer.
    private static func longLived(_ expires: Timestamp?, _ issued: Timestamp) -> Timestamp? {
        let least = issued.later(by: LongLivedToken.minimumLifetime - ServiceLifetime.allowance)
        return expires.flatMap { $0 >= least ? $0 : nil }
    }

    /// A request of a known client that got no signature.
    ///
    /// - Parameters:
    ///   - app: what the client asked for, as `feature` and `keyID`. Only configured names are recorded: the log holds
    ///     no name that a caller made up.
    ///   - reason: the problem type, such as `invalid-request`.
    ///   - item: position in a batch, from 0.
    public static func refusal(
        client: String, app: String? = nil, feature: String? = nil, keyID: String? = nil, reason: String, status: Int,
        requestID: String, item: Int? = nil
    ) -> AuditEvent {
        AuditEvent(
            "refusal",
            [
                "app": app, "client": client, "feature": feature, "item": item, "key": keyID, "reason": reason,
                "requestId": requestID, "status": status,
            ])
    }

    /// The refused requests of one client in one minute that are counted instead of recorded, so that a flood cannot
    /// fill the disk.
    ///
    /// - Parameters:
    ///   - client: nil for unauthenticated callers.
    ///   - minute: the start of the minute.
    ///   - counts: by problem type, such as `forbidden`.
    public static func refusals(client: String?, minute: Timestamp, counts: [String: Int]) -> AuditEvent {
        AuditEvent("refusals", ["client": client, "counts": counts, "minute": minute])
    }
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
