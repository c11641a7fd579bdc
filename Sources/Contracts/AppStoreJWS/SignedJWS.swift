import JWS
public import SigningKit
public import StrictJSON

/// The response for a JWS feature: `jws`, `keyId`, `nonce`, `issuedAt` (seconds, as in the claim `iat`).
public struct SignedJWS: JSONWritable, Sendable {
    /// The compact serialization, as ASCII.
    public let jws: [UInt8]
    public let grant: Grant

    public init(_ signingInput: [UInt8], _ signature: P256Signature, _ grant: Grant) {
        jws = CompactJWS.seal(signingInput, with: signature.rawRepresentation.span)
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
}
