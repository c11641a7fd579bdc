public import AuditLog
public import SigningKit

/// Why the gateway returns no signature.
public enum GatewayError: Error, Equatable, Sendable {
    /// No account has an app with this bundle ID.
    case unknownApp(String)
    /// The app may not use the feature, or the feature does not exist.
    case unknownFeature(String, app: String)
    /// No service with this name is configured.
    case unknownService(String)
    /// The app's account has no key with this ID.
    case unknownKey(String, app: String)
    /// No rule of the client allows it. This includes apps that do not exist, unless a rule allows their name.
    case forbidden(Denial)
    /// The client has used up its rate or its quota.
    case limited(RateLimitRefusal)
    /// The feature does not accept the request.
    case request(FeatureError)
    /// The key returned no signature.
    case key(KeyError, keyID: String)
    /// The request names a key that does not sign in its lifecycle state.
    case keyNotInUse(String, KeyLifecycleState)
    /// The request names no key, and no key of the account is active.
    case noKeyInUse(app: String)
    /// The request could not be recorded. Nothing was signed, or the signature was not released.
    case unrecorded(AuditError)
}

extension GatewayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownApp(let bundleID): "No app with the bundle ID \"\(bundleID)\" is configured."
        case .unknownFeature(let feature, let app): "The app \(app) has no feature \"\(feature)\"."
        case .unknownService(let name): "No service with the name \"\(name)\" is configured."
        case .unknownKey(let keyID, let app): "The account of \(app) has no key with the ID \"\(keyID)\"."
        case .forbidden(let denial): denial.description
        case .limited(let refusal): refusal.description
        case .request(let error): error.description
        case .key(let error, let keyID): "The key \(keyID) returned no signature. \(error)"
        case .keyNotInUse(let keyID, let state):
            "The key \(keyID) is \(state.rawValue), and signs nothing. Leave the key out of the request, and the account's "
                + "active key signs."
        case .noKeyInUse(let app):
            "No key \(app.hasPrefix("services/") ? "" : "of the account ")of \(app) is active: an administrator stopped it."
        case .unrecorded(let error): "The gateway signs only what it can record. \(error)"
        }
    }
}

/// How an audit entry names a refusal: as the HTTP answer does. `GatewayHTTP` has the mapping from errors.
public struct RefusalReason: Sendable {
    /// The problem type without its prefix, such as `unknown-app`.
    public let type: String
    /// The HTTP status.
    public let status: Int
    /// Whether the audit log only counts the refusal: a rule or limit refused the request before signing.
    public let isCounted: Bool

    public init(type: String, status: Int, isCounted: Bool) {
        self.type = type
        self.status = status
        self.isCounted = isCounted
    }
}
