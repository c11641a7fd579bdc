import SigningKit

/// Refusals in audit entries. They have the problem type of the HTTP answer.
extension GatewayError {
    /// Whether the audit log only counts the refusal: a rule or limit refused the request before signing.
    public var isCounted: Bool {
        switch self {
        case .forbidden, .limited: true
        case .unknownApp, .unknownFeature, .unknownKey, .request, .key, .keyNotInUse, .noKeyInUse, .unrecorded: false
        }
    }

    /// The problem type and the HTTP status.
    public var refusal: (reason: String, status: Int) {
        switch self {
        case .unknownApp: ("unknown-app", 404)
        case .unknownFeature: ("unknown-feature", 404)
        case .unknownKey: ("unknown-key", 404)
        case .forbidden: ("forbidden", 403)
        case .limited(let refusal): (refusal.kind == .rate ? "rate-limited" : "quota-exceeded", 429)
        case .request(.body): ("malformed-body", 400)
        case .request(.request): ("invalid-request", 422)
        case .key(let error, _): error.refusal
        case .keyNotInUse: ("key-not-in-use", 409)
        case .noKeyInUse: ("no-key-in-use", 503)
        case .unrecorded: ("audit-unavailable", 503)
        }
    }
}

extension KeyError {
    fileprivate var refusal: (reason: String, status: Int) {
        switch self {
        case .busy: ("busy", 503)
        case .failed: ("signing-failed", 500)
        case .unavailable, .notFound, .cancelled, .closed, .loginRefused, .loginBlocked, .secretUnavailable,
            .ambiguous, .unfit, .invalidURI, .invalidSetting:
            ("key-unavailable", 503)
        }
    }
}
