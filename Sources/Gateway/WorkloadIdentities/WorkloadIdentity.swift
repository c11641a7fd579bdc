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
    /// The claims as JSON. Thousands of identities are remembered, and a parsed text takes several times its length.
    private let payload: [UInt8]

    init(_ token: WorkloadToken, issuer: String) {
        self.issuer = issuer
        subject = token.claims.subject
        notBefore = token.claims.notBefore
        expires = token.claims.expires
        payload = token.payload
    }

    /// Whether the token has all of these claims: a text, a number or a Boolean as JSON shows it, or an array with one of
    /// them.
    public func hasClaims(_ wanted: [(name: String, value: Pattern)]) -> Bool {
        if wanted.isEmpty { return true }
        guard let claims = try? JSONDocument(parsing: payload).root.anyObject() else { return false }
        return wanted.allSatisfy { name, pattern in
            guard let value = claims[name] else { return false }
            let values = (try? value.elements()) ?? [value]
            return values.contains { Self.text(of: $0).map(pattern.matches) ?? false }
        }
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
