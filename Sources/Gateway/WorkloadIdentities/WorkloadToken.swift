import JWS
import SigningKit
import StrictJSON

/// A JWT (RFC 7519) of which no part is verified yet.
struct WorkloadToken: Sendable {
    let header: TokenHeader
    let claims: TokenClaims
    /// The claims as JSON.
    let payload: [UInt8]
    let signature: [UInt8]
    let signingInput: [UInt8]

    /// In bytes. A token with the groups of a person has about 4 KiB.
    static let maximumLength = 16 << 10

    init(_ text: String) throws(IdentityError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw .malformed("is longer than \(Self.maximumLength) bytes")
        }
        let jws: CompactJWS
        do { jws = try CompactJWS(parsing: Array(text.utf8)) } catch {
            throw .malformed("is not three parts in Base64url")
        }
        header = try Self.read("header", jws.header) { object throws(JSONReadError) in try TokenHeader(object) }
        claims = try Self.read("payload", jws.payload) { object throws(JSONReadError) in try TokenClaims(object) }
        payload = jws.payload
        signature = jws.signature
        signingInput = jws.signingInput
    }

    private static func read<Part>(
        _ name: String, _ json: [UInt8], _ read: (JSONObject) throws(JSONReadError) -> Part
    ) throws(IdentityError) -> Part {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: json) } catch {
            throw .malformed("has a \(name) that is not strict JSON")
        }
        do throws(JSONReadError) { return try read(try document.root.anyObject()) } catch {
            throw .malformed(
                error.path.isEmpty
                    ? "has a \(name) that is no JSON object" : "has an unusable \(name): \("\(error)".dropLast())")
        }
    }
}

/// The header members that count (RFC 7515 §4.1). `jwk`, `jku`, `x5c` and `x5u` are ignored: a token cannot name the key
/// that proves it.
struct TokenHeader: Sendable {
    let algorithm: String
    let keyID: String?

    init(_ object: JSONObject) throws(JSONReadError) {
        algorithm = try object.decode("alg")
        keyID = try object.decodeIfPresent("kid")
        // No extension is known here, so every critical one is refused (RFC 7515 §4.1.11).
        if object["crit"] != nil { throw JSONReadError(.invalid("is not supported"), at: "crit") }
        // Tokens of other types, such as logout tokens, prove nothing here (RFC 8725 §3.12).
        let type: String? = try object.decodeIfPresent("typ")
        guard ["jwt", "jose", "at+jwt", "application/at+jwt", nil].contains(type?.lowercased()) else {
            throw JSONReadError(.invalid("is not JWT"), at: "typ")
        }
    }
}

/// The claims (RFC 7519 §4.1). A token without a subject, an audience or an end proves nothing.
struct TokenClaims: Sendable {
    let issuer: String?
    let subject: String
    let audiences: [String]
    let expires: Timestamp
    let notBefore: Timestamp?
    let issuedAt: Timestamp?

    init(_ object: JSONObject) throws(JSONReadError) {
        issuer = try object.decodeIfPresent("iss")
        subject = try object.decode("sub")
        audiences = try object.required("aud") { value throws(JSONReadError) in
            value.kind == .array ? try value.decode() : [try value.string()]
        }
        expires = try object.required("exp", Self.time)
        notBefore = try object.optional("nbf", Self.time)
        issuedAt = try object.optional("iat", Self.time)
    }

    /// A NumericDate: seconds since 1970, perhaps with a fraction (RFC 7519 §2).
    private static func time(_ value: JSONValue) throws(JSONReadError) -> Timestamp {
        let seconds: Double = try value.decode()
        guard (0...latest).contains(seconds) else { throw JSONReadError(.invalid("is out of range")) }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }

    /// The end of the year 9999.
    private static let latest = 253_402_300_799.0
}
