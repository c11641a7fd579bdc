/// Why a token does not prove a workload identity. It is for the operator's log, and contains no part of the token.
public enum IdentityError: Error, Equatable, Sendable {
    /// The rest of a sentence that begins with "The token".
    case malformed(String)
    /// Neither `iss` nor the trust domain of `sub` is that of an issuer.
    case unknownIssuer
    case wrongAudience(issuer: String)
    case expired(issuer: String)
    case notYetValid(issuer: String)
    /// `none`, an HMAC, or another algorithm that is not accepted.
    case algorithmNotAccepted(issuer: String)
    /// The key is for another algorithm.
    case algorithmOfOtherKey(issuer: String)
    /// There is no `kid`, and not exactly one key for the algorithm.
    case noKeyID(issuer: String)
    /// The key set has no such key, even after it was read again.
    case unknownKey(issuer: String)
    case keysUnavailable(issuer: String, KeySetError)
    case wrongSignature(issuer: String)
}

extension IdentityError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let what): "The token \(what)."
        case .unknownIssuer: "The token is of no issuer of the configuration."
        case .wrongAudience(let issuer): "The token of the issuer \(issuer) is for another audience."
        case .expired(let issuer): "The token of the issuer \(issuer) has expired."
        case .notYetValid(let issuer): "The token of the issuer \(issuer) is not valid yet."
        case .algorithmNotAccepted(let issuer):
            "The token of the issuer \(issuer) has another algorithm than ES256, RS256 and EdDSA."
        case .algorithmOfOtherKey(let issuer):
            "The token of the issuer \(issuer) has an algorithm for which its key is not meant."
        case .noKeyID(let issuer):
            "The token of the issuer \(issuer) names no key, and its key set has not exactly one for the algorithm."
        case .unknownKey(let issuer): "The token of the issuer \(issuer) has a key that is not in the key set."
        case .keysUnavailable(let issuer, let error): "The keys of the issuer \(issuer) are not available: \(error)."
        case .wrongSignature(let issuer): "The token of the issuer \(issuer) has a wrong signature."
        }
    }
}

/// Why a key set cannot be used. Its description is the rest of a sentence that names the set.
public enum KeySetError: Error, Equatable, Sendable {
    /// Why it could not be read.
    case unreadable(String)
    case tooLarge
    case notAKeySet(String)
    /// No key of the set can verify a token.
    case noUsableKey
}

extension KeySetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .tooLarge: "the key set has more than \(KeySet.maximumLength) bytes"
        case .notAKeySet(let reason): "the text is not a JWK set (\(reason))"
        case .noUsableKey: "the key set has no key for ES256, RS256 or EdDSA"
        }
    }
}
