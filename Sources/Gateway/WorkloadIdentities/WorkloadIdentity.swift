public import SigningKit
import StrictJSON

/// What a verified token says about its bearer.
public struct WorkloadIdentity: Sendable {
    /// The name of the issuer in the configuration.
    public let issuer: String
    /// The claim `sub`.
    public let subject: String
    let notBefore: Timestamp?
    let expires: Timestamp
    private let claims: JSONObject

    init(_ claims: TokenClaims, issuer: String) {
        self.issuer = issuer
        subject = claims.subject
        notBefore = claims.notBefore
        expires = claims.expires
        self.claims = claims.all
    }

    /// Whether the token has such a claim: a text, a number or a Boolean as JSON shows it, or an array with one of them.
    public func hasClaim(_ name: String, matching pattern: Pattern) -> Bool {
        guard let value = claims[name] else { return false }
        let values = (try? value.elements()) ?? [value]
        return values.contains { Self.text(of: $0).map(pattern.matches) ?? false }
    }

    /// Nil for null, an object and an array.
    private static func text(of value: JSONValue) -> String? {
        switch value.kind {
        case .string: try? value.string()
        case .number, .boolean: String(decoding: value.rawBytes, as: UTF8.self)
        case .null, .object, .array: nil
        }
    }
}
