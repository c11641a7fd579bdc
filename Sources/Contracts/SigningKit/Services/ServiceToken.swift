public import StrictJSON

/// A signed token for a service of Apple, as the answer of a request.
public struct ServiceToken: JSONWritable, Sendable {
    /// A JWS in compact serialization, as ASCII; for a signed URL, the signature.
    public let token: [UInt8]
    /// A signed URL, as ASCII; nil for a token.
    public let url: [UInt8]?
    public let keyID: String
    /// In seconds since 1970.
    public let issuedAt: Int64
    /// When Apple refuses it, in seconds since 1970; nil for never.
    public let expiresAt: Int64?
    /// From when a caller should ask for a new token, in seconds since 1970.
    public let refreshAfter: Int64

    public init(
        _ token: [UInt8], url: [UInt8]? = nil, keyID: String, issuedAt: Int64, expiresAt: Int64?, refreshAfter: Int64
    ) {
        self.token = token
        self.url = url
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.refreshAfter = refreshAfter
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("token", unescaped: token)
            if let url { writer.member("url", String(decoding: url, as: UTF8.self)) }
            writer.member("keyId", keyID)
            writer.member("issuedAt", issuedAt)
            if let expiresAt { writer.member("expiresAt", expiresAt) }
            writer.member("refreshAfter", refreshAfter)
        }
    }
}
