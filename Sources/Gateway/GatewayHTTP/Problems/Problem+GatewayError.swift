import AuditKit
import AuditLog
import HTTPTypes
import KeyLifecycle
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
            self.init(
                refusal.kind == .rate ? .rateLimited : .quotaExceeded, refusal.description,
                retryAfter: refusal.retryAfter)
            headers.set(refusal.status)
        case .request(.body(let error)): self.init(.malformedBody, error.description, field: error.member)
        case .request(.request(let error)): self.init(error)
        case .key(let error, let keyID): self.init(error, keyID: keyID)
        case .keyNotInUse: self.init(.keyNotInUse, error.description, field: "keyIdentifier")
        case .noKeyInUse: self.init(.noKeyInUse, error.description, retryAfter: 60)
        case .unrecorded: self = .auditUnavailable
        }
    }

    init(_ error: JSONReadError) {
        self.init(.invalidRequest, error.description, field: error.path.isEmpty ? nil : error.path)
    }

    init(_ refusal: KeyLifecycleRefusal) {
        switch refusal.kind {
        case .transition: self.init(.changeRefused, refusal.description)
        case .unknown: self.init(.notFound, refusal.description)
        case .unrecorded: self.init(.auditUnavailable, refusal.description, retryAfter: 2)
        }
    }

    /// Details of the failure are for the operator, not for callers.
    static let auditUnavailable = Problem(
        .auditUnavailable, "The gateway signs only what it can record, and cannot write the audit log now.",
        retryAfter: 2)

    private init(_ error: KeyError, keyID: String) {
        switch error {
        case .busy: self.init(.busy, "The queue of the key \(keyID) is full; try again in a moment.", retryAfter: 1)
        case .unavailable, .notFound, .cancelled, .closed:
            self.init(.keyUnavailable, "The key \(keyID) does not answer now; try again in a moment.", retryAfter: 2)
        case .loginRefused, .loginBlocked, .secretUnavailable, .ambiguous, .unfit, .invalidURI, .invalidSetting:
            // The operator has to change the configuration or the token first.
            self.init(.keyUnavailable, "The key \(keyID) cannot be used as it is configured.", retryAfter: 60)
        case .failed:
            self.init(.signingFailed, "The key \(keyID) returned no valid signature; none was released.")
        }
    }
}

extension JSONSyntaxError {
    /// The name of a duplicate member; nil for other errors.
    fileprivate var member: String? {
        if case .duplicateMember(let name) = reason { name } else { nil }
    }
}

// MARK: The audit log

extension RefusalReason {
    /// The reason in the audit log is the one of the HTTP answer, also for a signature without HTTP.
    public init(_ error: GatewayError) { self.init(Problem(error)) }

    init(_ problem: Problem) {
        self.init(type: problem.kind.rawValue, status: problem.status.code, isCounted: problem.kind.isCounted)
    }
}

/// Records refusals in the audit log: an entry for each signing request without a signature, and counts of refusals by
/// authentication, authorization and limits. Other failed requests, such as unknown paths, are in the access log only.
struct RefusalRecorder {
    let gateway: SnapshotHolder

    private static let signingRoutes: Set = [SigningRoutes.single, SigningRoutes.batch, SigningRoutes.compatibility]

    /// - Returns: after recording. If the refusal cannot be recorded, the problem to answer with instead.
    func record(_ problem: Problem, _ scope: RequestScope) async -> Problem? {
        guard let audit = gateway.audit else { return nil }
        let known = scope.known
        let reason = RefusalReason(problem)
        if reason.isCounted {
            audit.count(reason.type, client: known.client)
            return nil
        }
        guard let client = known.client, problem.kind != .auditUnavailable,
            Self.signingRoutes.contains(scope.route ?? "")
        else { return nil }
        // Charge a request that was refused before it was charged to the client's rate. Over the rate it is only
        // counted. Otherwise a client could fill the disk with requests that are refused early.
        guard known.isAdmitted || admit(client) else {
            audit.count(reason.type, client: client)
            return nil
        }
        do {
            try await audit.record(
                .refusal(
                    client: client, app: known.app, feature: known.feature, keyID: known.keyID, reason: reason.type,
                    status: reason.status, requestID: scope.requestID))
            return nil
        } catch {
            return .auditUnavailable
        }
    }

    private func admit(_ name: String) -> Bool {
        let snapshot = gateway.current
        guard let client = snapshot.clients.clients.first(where: { $0.name == name }) else { return true }
        return snapshot.dispatcher.charge(client)
    }
}
