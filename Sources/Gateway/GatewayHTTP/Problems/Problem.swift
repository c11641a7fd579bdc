import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import StrictJSON

/// A problem document (RFC 9457), the answer to a request that fails.
struct Problem: Error, Equatable {
    static let mediaType = "application/problem+json"

    /// Stable: programs may depend on it.
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

enum ProblemKind: String, CaseIterable {
    case malformedRequest = "malformed-request"
    case malformedBody = "malformed-body"
    case missingParameter = "missing-parameter"
    case invalidParameter = "invalid-parameter"
    case invalidRequest = "invalid-request"
    case unauthenticated
    case forbidden
    case notFound = "not-found"
    case unknownApp = "unknown-app"
    case unknownFeature = "unknown-feature"
    case unknownKey = "unknown-key"
    case methodNotAllowed = "method-not-allowed"
    case requestTimeout = "request-timeout"
    case bodyTooLarge = "body-too-large"
    case uriTooLong = "uri-too-long"
    case unsupportedMediaType = "unsupported-media-type"
    case rateLimited = "rate-limited"
    case quotaExceeded = "quota-exceeded"
    case headerFieldsTooLarge = "header-fields-too-large"
    case keyNotInUse = "key-not-in-use"
    case noKeyInUse = "no-key-in-use"
    case changeRefused = "change-refused"
    case reloadRefused = "reload-refused"
    case signingFailed = "signing-failed"
    case internalError = "internal-error"
    case notImplemented = "not-implemented"
    case busy
    case keyUnavailable = "key-unavailable"
    case auditUnavailable = "audit-unavailable"
    case tooManyConnections = "too-many-connections"
    case tooManyBytes = "too-many-bytes"
    case deadlineExceeded = "deadline-exceeded"

    /// Whether the audit log only counts this kind: refusals by authentication, authorization and rate limits.
    var isCounted: Bool {
        switch self {
        case .unauthenticated, .forbidden, .rateLimited, .quotaExceeded: true
        default: false
        }
    }

    /// The `type` of the problem document (RFC 9457 §3.1.1).
    var type: String { "urn:privyseal:problem:\(rawValue)" }

    var status: HTTPResponse.Status { statusAndTitle.0 }

    /// The same for every problem of the kind (RFC 9457 §3.1.3).
    var title: String { statusAndTitle.1 }

    private var statusAndTitle: (HTTPResponse.Status, String) {
        switch self {
        case .malformedRequest: (.badRequest, "The request is not HTTP")
        case .malformedBody: (.badRequest, "The body is not acceptable JSON")
        case .missingParameter: (.badRequest, "A parameter is missing")
        case .invalidParameter: (.badRequest, "A parameter is not allowed here")
        case .invalidRequest: (.unprocessableContent, "A member of the request is not acceptable")
        case .unauthenticated: (.unauthorized, "The caller is not authenticated")
        case .forbidden: (.forbidden, "The client may not do this")
        case .notFound: (.notFound, "There is nothing at this path")
        case .unknownApp: (.notFound, "The app is not served here")
        case .unknownFeature: (.notFound, "The feature is not served for this app")
        case .unknownKey: (.notFound, "The key is not one of the app's account")
        case .methodNotAllowed: (.methodNotAllowed, "The path does not support this method")
        case .requestTimeout: (.requestTimeout, "The request took too long to arrive")
        case .bodyTooLarge: (.contentTooLarge, "The body is too large")
        case .uriTooLong: (.uriTooLong, "The path and query are too long")
        case .unsupportedMediaType: (.unsupportedMediaType, "The body must be JSON")
        case .rateLimited: (.tooManyRequests, "The client exceeds its rate limit")
        case .quotaExceeded: (.tooManyRequests, "The client has used up its daily quota")
        case .headerFieldsTooLarge: (.requestHeaderFieldsTooLarge, "The header fields are too large")
        case .keyNotInUse: (.conflict, "The key is not in use")
        case .noKeyInUse: (.serviceUnavailable, "No key is in use")
        case .changeRefused: (.conflict, "The key was not changed")
        case .reloadRefused: (.conflict, "The configuration was not changed")
        case .signingFailed: (.internalServerError, "The signature could not be made")
        case .internalError: (.internalServerError, "Something went wrong inside the gateway")
        case .notImplemented: (.notImplemented, "The gateway does not implement this part of HTTP")
        case .busy: (.serviceUnavailable, "The key is busy")
        case .keyUnavailable: (.serviceUnavailable, "The key does not answer")
        case .auditUnavailable: (.serviceUnavailable, "The audit log cannot be written")
        case .tooManyConnections: (.serviceUnavailable, "Too many connections are open")
        case .tooManyBytes: (.serviceUnavailable, "Too many bytes of bodies are in flight")
        case .deadlineExceeded: (.gatewayTimeout, "The answer took too long")
        }
    }
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
            self.init(.headerFieldsTooLarge, "The request's header fields are longer than allowed.")
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
