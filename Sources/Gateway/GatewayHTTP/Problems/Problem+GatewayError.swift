import HTTPTypes
public import Signing
import SigningKit
import StrictJSON

/// Maps the gateway's errors to answers. Errors that the caller can correct are detailed. Details of key and token
/// errors are only in the operator's log.
extension Problem {
    init(_ error: GatewayError) {
        switch error {
        case .unknownApp: self.init(.unknownApp, error.description)
        case .unknownFeature: self.init(.unknownFeature, error.description)
        case .unknownKey: self.init(.unknownKey, error.description, field: "keyIdentifier")
        case .forbidden(let denial): self.init(.forbidden, denial.description)
        case .limited(let refusal):
            self.init(refusal.kind == .rate ? .rateLimited : .quotaExceeded, refusal.description)
            retryAfter = refusal.retryAfter
            limit = refusal.status
        case .request(let error): self.init(error)
        case .key(let error, let keyID): self.init(error, keyID: keyID)
        case .keyNotInUse: self.init(.keyNotInUse, error.description, field: "keyIdentifier")
        case .noKeyInUse:
            self.init(.noKeyInUse, error.description)
            retryAfter = 60
        case .unrecorded: self = .auditUnavailable
        }
    }

    /// Details of the failure are for the operator, not for callers.
    static var auditUnavailable: Problem {
        var problem = Problem(
            .auditUnavailable, "The gateway signs only what it can record, and cannot write the audit log now.")
        problem.retryAfter = 2
        return problem
    }

    private init(_ error: FeatureError) {
        switch error {
        case .body(let error): self.init(.malformedBody, error.description, field: error.member)
        case .request(let error):
            self.init(.invalidRequest, error.description, field: error.path.isEmpty ? nil : error.path)
        }
    }

    private init(_ error: KeyError, keyID: String) {
        switch error {
        case .busy:
            self.init(.busy, "The queue of the key \(keyID) is full; try again in a moment.")
            retryAfter = 1
        case .unavailable, .notFound, .cancelled, .closed:
            self.init(.keyUnavailable, "The key \(keyID) does not answer now; try again in a moment.")
            retryAfter = 2
        case .loginRefused, .loginBlocked, .secretUnavailable, .ambiguous, .unfit, .invalidURI, .invalidSetting:
            // The operator has to change the configuration or the token first.
            self.init(.keyUnavailable, "The key \(keyID) cannot be used as it is configured.")
            retryAfter = 60
        case .failed:
            self.init(.signingFailed, "The key \(keyID) returned no valid signature; none was released.")
        }
    }
}

extension RefusalReason {
    /// The reason in the audit log is the one of the HTTP answer, also for a signature without HTTP.
    public init(_ error: GatewayError) { self.init(Problem(error)) }

    init(_ problem: Problem) {
        self.init(type: problem.kind.rawValue, status: problem.status.code, isCounted: problem.kind.isCounted)
    }
}

extension JSONSyntaxError {
    /// The name of a duplicate member; nil for other errors.
    fileprivate var member: String? {
        if case .duplicateMember(let name) = reason { name } else { nil }
    }
}
