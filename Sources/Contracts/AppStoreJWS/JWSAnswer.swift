import JWS
public import SigningKit
public import StrictJSON

/// The answer of a JWS feature.
public struct JWSAnswer: JSONWritable, Sendable {
    /// The compact serialization, as ASCII.
    public let jws: [UInt8]
    public let grant: Grant

    public init(_ signingInput: [UInt8], _ signature: P256Signature, _ grant: Grant) {
        jws = CompactJWS.serialized(signingInput, signature: signature.rawRepresentation.span)
        self.grant = grant
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writeMembers(to: &$0) }
    }

    /// Writes the members without braces, for a response with further members.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.member("jws", unescaped: jws)
        writer.member("keyId", grant.app.keyID)
        writer.member("nonce", unescaped: grant.nonce.text)
        writer.member("issuedAt", grant.issuedAt.seconds)
    }

    /// The members that `writeMembers` writes.
    public static let fields = [
        FeatureField(
            "jws", .jws,
            "A JWS in compact serialization (RFC 7515 §7.1) with ES256. StoreKit takes it as it is.",
            example: """
                "eyJhbGciOiJFUzI1NiIsImtpZCI6IjJYOVI0SFhGMzQiLCJ0eXAiOiJKV1QifQ.\
                eyJpc3MiOiI1NzI0NjU0Mi05NmZlLTFhNjMtZTA1My0wODI0ZDAxMTA3MmEifQ.\
                qk2dXyNf1SKlvPpTgRjHgnAEZnAHVXPlUHkXLMJQo9Cz0WyG5PwGLuD7wgKkB3qlgBM1cS6QVV2VUqc4nQe1hg"
                """),
        FeatureField("keyId", .keyID, "The ID of the key that signed.", example: #""2X9R4HXF34""#),
        FeatureField(
            "nonce", .nonce, "The claim `nonce`: a fresh UUID, for one purchase attempt.",
            example: #""702278ca-7e6b-4b20-b635-7261690c0606""#),
        FeatureField(
            "issuedAt", .integer, "The claim `iat`, in seconds since 1970.", example: "1795250162"),
    ]
}
