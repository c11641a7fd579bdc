import JWS
public import SigningKit
public import StrictJSON

/// The header and the base claims that all of Apple's audiences share
/// (Apple: "Generating JWS to sign App Store requests").
///
/// The header has exactly `alg`, `kid` and `typ`. The claims are `iss`, `iat`, `aud`, `bid`, `nonce` and the feature's
/// own. There is no `exp`, `sub` or `jti`: Apple rejects a payload with any other member.
public enum AppStoreJWS {
    /// - Parameters:
    ///   - audience: The claim `aud`.
    ///   - claims: writes the feature's own claims, after the base claims.
    /// - Returns: the bytes to sign.
    public static func signingInput(
        _ audience: String, for grant: Grant, claims: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var payload = JSONWriter(capacity: 512)
        payload.object { payload in
            payload.member("iss", grant.app.issuerID)
            payload.member("iat", grant.issuedAt.seconds)
            payload.member("aud", audience)
            payload.member("bid", grant.app.bundleID)
            payload.member("nonce", unescaped: grant.nonce.text)
            claims(&payload)
        }
        return CompactJWS.signingInput(header: header(keyID: grant.app.keyID), payload: payload.bytes)
    }

    /// `alg`, `kid` and `typ`, in this order.
    public static func header(keyID: String) -> [UInt8] {
        var header = JSONWriter(capacity: 64)
        header.object { header in
            header.member("alg", "ES256")
            header.member("kid", keyID)
            header.member("typ", "JWT")
        }
        return header.bytes
    }
}

/// The answer of a JWS feature.
public struct JWSAnswer: JSONWritable, Sendable {
    /// The compact serialization, as ASCII.
    public let jws: [UInt8]
    public let grant: Grant

    public init(_ signingInput: [UInt8], _ signature: P256Signature, _ grant: Grant) {
        jws = CompactJWS.serialized(signingInput, signature: signature.rawRepresentation.span)
        self.grant = grant
    }

    public func write(to writer: inout JSONWriter) { writer.object { writeMembers(to: &$0) } }

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

extension FeatureDescriptor {
    /// A feature that makes a JWS.
    ///
    /// - Parameters:
    ///   - audience: The claim `aud`, which is also the feature's ID.
    ///   - claims: Nil if the claims are the members of the request.
    public init(
        audience: String, name: String, summary: String, description: String, fields: [FeatureField],
        answer: [FeatureField] = JWSAnswer.fields, claims: [FeatureField]? = nil, openAPI: String = ""
    ) {
        self.init(
            id: audience, name: name, summary: summary, description: description, fields: fields, answer: answer,
            claims: claims ?? fields, openAPI: openAPI)
    }
}

/// Claims that several audiences share.
extension FeatureField {
    public static let productID = FeatureField(
        "productId", .identifier, "The subscription's product identifier.", example: #""com.example.app.monthly""#,
        synonyms: ["product", "productidentifier", "sku"])

    /// - Parameter note: A further sentence, with a space in front.
    public static func transactionID(isRequired: Bool, _ note: String = "") -> FeatureField {
        FeatureField(
            "transactionId", .identifier, isRequired: isRequired,
            "Any transaction of the customer, or the appTransactionID.\(note)", example: #""70000123456789""#,
            synonyms: ["transactionidentifier", "originaltransactionid", "apptransactionid"])
    }
}
