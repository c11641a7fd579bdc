import AuditKit
import AuditLog
import HTTPTypes
import HummingbirdCore
import KeyLifecycle
import NIOCore
import NIOHTTP1
public import Signing
import SigningKit
import StrictJSON

/// A problem document (RFC 9457), the answer to a request that fails.
struct Problem: Error, Equatable {
    static let mediaType = "application/problem+json"

    let kind: ProblemKind
    /// The cause of this problem, and its remedy.
    let detail: String
    /// The member or parameter at fault.
    var field: String?
    /// Such as `Retry-After`.
    var headers: HTTPFields = [:]
    /// The request's ID, set before the problem is sent.
    var requestID: String?

    /// - Parameter retryAfter: seconds after which the same request may succeed.
    init(_ kind: ProblemKind, _ detail: String, field: String? = nil, retryAfter: Int? = nil) {
        self.kind = kind
        self.detail = detail
        self.field = field
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
    }

    var status: HTTPResponse.Status { kind.status }

    var response: Response { .json(jsonBytes(), as: Self.mediaType, status: status, headers: headers) }

    /// The last answer of a connection that has no route for it.
    func closingAnswer() -> (head: HTTPResponse, body: ByteBuffer) {
        let body = ByteBuffer(bytes: jsonBytes())
        var head = Response(body, as: Self.mediaType, status: status, headers: headers).head
        head.headerFields[.date] = HTTPDate.now()
        head.headerFields[.requestID] = requestID
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}

extension Problem: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", kind.type)
            writer.member("title", kind.title)
            writer.member("status", status.code)
            writer.member("detail", detail)
            if let field { writer.member("field", field) }
            if let requestID { writer.member("requestId", requestID) }
        }
    }
}

// MARK: Kinds

struct ProblemKind: Equatable {
    /// Stable: programs may depend on it.
    let name: String
    let status: HTTPResponse.Status
    /// The same for every problem of the kind (RFC 9457 §3.1.3).
    let title: String

    private init(_ name: String, _ status: HTTPResponse.Status, _ title: String) {
        self.name = name
        self.status = status
        self.title = title
    }

    /// The `type` of the problem document (RFC 9457 §3.1.1).
    var type: String { "urn:privyseal:problem:\(name)" }

    /// Whether the audit log only counts this kind: refusals by authentication, authorization and rate limits.
    var isCounted: Bool { [.unauthenticated, .forbidden, .rateLimited, .quotaExceeded].contains(self) }

    static let malformedRequest = Self("malformed-request", .badRequest, "The request is not HTTP")
    static let malformedBody = Self("malformed-body", .badRequest, "The body is not acceptable JSON")
    static let missingParameter = Self("missing-parameter", .badRequest, "A parameter is missing")
    static let invalidParameter = Self("invalid-parameter", .badRequest, "A parameter is not allowed here")
    static let invalidRequest = Self(
        "invalid-request", .unprocessableContent, "A member of the request is not acceptable")
    static let unauthenticated = Self("unauthenticated", .unauthorized, "The caller is not authenticated")
    static let forbidden = Self("forbidden", .forbidden, "The client may not do this")
    static let notFound = Self("not-found", .notFound, "There is nothing at this path")
    static let unknownApp = Self("unknown-app", .notFound, "The app is not served here")
    static let unknownFeature = Self("unknown-feature", .notFound, "The feature is not served for this app")
    static let unknownService = Self("unknown-service", .notFound, "The service is not configured")
    static let unknownKey = Self("unknown-key", .notFound, "The key is not one of the app's account")
    static let methodNotAllowed = Self("method-not-allowed", .methodNotAllowed, "The path does not support this method")
    static let requestTimeout = Self("request-timeout", .requestTimeout, "The request took too long to arrive")
    static let bodyTooLarge = Self("body-too-large", .contentTooLarge, "The body is too large")
    static let uriTooLong = Self("uri-too-long", .uriTooLong, "The path and query are too long")
    static let unsupportedMediaType = Self("unsupported-media-type", .unsupportedMediaType, "The body must be JSON")
    static let rateLimited = Self("rate-limited", .tooManyRequests, "The client exceeds its rate limit")
    static let quotaExceeded = Self("quota-exceeded", .tooManyRequests, "The client has used up its daily quota")
    static let headerFieldsTooLarge = Self(
        "header-fields-too-large", .requestHeaderFieldsTooLarge, "The header fields are too large")
    static let keyNotInUse = Self("key-not-in-use", .conflict, "The key is not in use")
    static let noKeyInUse = Self("no-key-in-use", .serviceUnavailable, "No key is in use")
    static let changeRefused = Self("change-refused", .conflict, "The key was not changed")
    static let reloadRefused = Self("reload-refused", .conflict, "The configuration was not changed")
    static let signerNotReplaced = Self("signer-not-replaced", .conflict, "The signer was not replaced")
    static let signingFailed = Self("signing-failed", .internalServerError, "The signature could not be made")
    static let internalError = Self("internal-error", .internalServerError, "Something went wrong inside the gateway")
    static let notImplemented = Self(
        "not-implemented", .notImplemented, "The gateway does not implement this part of HTTP")
    static let busy = Self("busy", .serviceUnavailable, "The key is busy")
    static let keyUnavailable = Self("key-unavailable", .serviceUnavailable, "The key does not answer")
    static let auditUnavailable = Self("audit-unavailable", .serviceUnavailable, "The audit log cannot be written")
    static let tooManyConnections = Self("too-many-connections", .serviceUnavailable, "Too many connections are open")
    static let tooManyBytes = Self("too-many-bytes", .serviceUnavailable, "Too many bytes of bodies are in flight")
    static let deadlineExceeded = Self("deadline-exceeded", .gatewayTimeout, "The answer took too long")

    static let all: [ProblemKind] = [
        .malformedRequest, .malformedBody, .missingParameter, .invalidParameter, .invalidRequest, .unauthenticated,
        .forbidden, .notFound, .unknownApp, .unknownFeature, .unknownService, .unknownKey, .methodNotAllowed,
        .requestTimeout,
        .bodyTooLarge, .uriTooLong, .unsupportedMediaType, .rateLimited, .quotaExceeded, .headerFieldsTooLarge,
        .keyNotInUse, .noKeyInUse, .changeRefused, .reloadRefused, .signerNotReplaced, .signingFailed, .internalError,
        .notImplemented,
        .busy, .keyUnavailable, .auditUnavailable, .tooManyConnections, .tooManyBytes, .deadlineExceeded,
    ]
}

// MARK: Problems of a connection and of a path

extension Problem {
    static func notFound(_ path: String) -> Problem {
        Problem(.notFound, "There is nothing at \(path); docs/http-api.md lists the paths.")
    }

    /// - Returns: nil if no request awaits an answer.
    init?(overdue phase: RequestTimeouts.Phase) {
        switch phase {
        case .handshake, .idle: return nil
        case .arriving: self.init(.requestTimeout, "The request did not arrive in time; send it again, without pauses.")
        case .answering:
            self.init(.deadlineExceeded, "The answer took too long; try again in a moment.", retryAfter: 1)
        }
    }

    init(_ error: HTTPParserError, isLineTooLong: Bool) {
        switch error {
        case .headerOverflow where isLineTooLong:
            self.init(.uriTooLong, "The request's path and query are longer than allowed.")
        case .headerOverflow:
            self.init(.headerFieldsTooLarge, "The request has more header fields, or longer ones, than allowed.")
        default: self.init(.malformedRequest, "The request is not valid HTTP/1.1 (RFC 9112); the connection closes.")
        }
    }

    static let incompleteBody = Problem(.malformedBody, "The body is incomplete.")

    static let tooManyConnections = Problem(
        .tooManyConnections, "Too many connections are open; try again in a moment.", retryAfter: 1)

    /// - Parameter client: the client whose limit is reached; nil for the limit of all clients together.
    static func tooManyBytes(client: String?) -> Problem {
        let whose = client.map { "The client \($0) has" } ?? "All clients together have"
        return Problem(
            .tooManyBytes, "\(whose) as many bytes of request bodies in flight as allowed; try again in a moment.",
            retryAfter: 1)
    }
}

// MARK: Errors of the gateway

/// Maps the gateway's errors to answers. Errors that the caller can correct are detailed. Details of key and token
/// errors are only in the operator's log.
extension Problem {
    init(_ error: GatewayError) {
        switch error {
        case .unknownApp: self.init(.unknownApp, error.description)
        case .unknownFeature: self.init(.unknownFeature, error.description)
        case .unknownService: self.init(.unknownService, error.description)
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
        case .transition, .changed, .superseded: self.init(.changeRefused, refusal.description)
        case .unknown: self.init(.notFound, refusal.description)
        case .unrecorded: self.init(.auditUnavailable, refusal.description, retryAfter: 2)
        }
    }

    /// Details of the failure are for the operator, not for callers.
    static let auditUnavailable = Problem(
        .auditUnavailable, "The gateway signs only what it can record as configured, and cannot do that now.",
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
        self.init(type: problem.kind.name, status: problem.status.code, isCounted: problem.kind.isCounted)
    }
}
