public import SigningKit

/// Why the gateway gives no signature.
public enum GatewayError: Error, Equatable, Sendable {
    /// No account has an app with this bundle ID.
    case unknownApp(String)
    /// The app may not use the feature, or there is none of that name.
    case unknownFeature(String, app: String)
    /// The app's account has no key with this ID.
    case unknownKey(String, app: String)
    /// No rule of the client's allows it. An app that is not there is forbidden like others, unless a rule allows its name.
    case forbidden(Denial)
    /// The client has used up its rate or its quota.
    case limited(RateLimitRefusal)
    /// The request is not what the feature needs.
    case request(FeatureError)
    /// The key gave no signature.
    case key(KeyError, keyID: String)
    /// The request names a key that signs nothing where it stands in its life.
    case keyNotInUse(String, KeyLifeState)
    /// The request names no key, and none of the account is active.
    case noKeyInUse(app: String)
    /// It could not be recorded, so nothing was signed, or what was signed did not leave.
    case unrecorded(AuditError)
}

extension GatewayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownApp(let bundleID): "No app with the bundle ID \"\(bundleID)\" is configured."
        case .unknownFeature(let feature, let app): "The app \(app) has no feature \"\(feature)\"."
        case .unknownKey(let keyID, let app): "The account of \(app) has no key with the ID \"\(keyID)\"."
        case .forbidden(let denial): denial.description
        case .limited(let refusal): refusal.description
        case .request(let error): error.description
        case .key(let error, let keyID): "The key \(keyID) gave no signature. \(error)"
        case .keyNotInUse(let keyID, let state):
            "The key \(keyID) is \(state.rawValue), and signs nothing. Leave the key out of the request, and the account's "
                + "active key signs."
        case .noKeyInUse(let app): "No key of the account of \(app) is active: an administrator stopped it."
        case .unrecorded(let error): "Nothing is signed that cannot be recorded. \(error)"
        }
    }
}
