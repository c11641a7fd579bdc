import HTTPTypes

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

    /// The same for every problem of the kind (RFC 9457 §3.1.3).
    var title: String {
        switch self {
        case .malformedRequest: "The request is not HTTP"
        case .malformedBody: "The body is not acceptable JSON"
        case .missingParameter: "A parameter is missing"
        case .invalidParameter: "A parameter is not allowed here"
        case .invalidRequest: "A member of the request is not acceptable"
        case .unauthenticated: "The caller is not authenticated"
        case .forbidden: "The client may not do this"
        case .notFound: "There is nothing at this path"
        case .unknownApp: "The app is not served here"
        case .unknownFeature: "The feature is not served for this app"
        case .unknownKey: "The key is not one of the app's account"
        case .methodNotAllowed: "The path does not support this method"
        case .requestTimeout: "The request took too long to arrive"
        case .bodyTooLarge: "The body is too large"
        case .uriTooLong: "The path and query are too long"
        case .unsupportedMediaType: "The body must be JSON"
        case .rateLimited: "The client exceeds its rate limit"
        case .quotaExceeded: "The client has used up its daily quota"
        case .headerFieldsTooLarge: "The header fields are too large"
        case .keyNotInUse: "The key is not in use"
        case .noKeyInUse: "No key is in use"
        case .changeRefused: "The key was not changed"
        case .reloadRefused: "The configuration was not changed"
        case .signingFailed: "The signature could not be made"
        case .internalError: "Something went wrong inside the gateway"
        case .notImplemented: "The gateway does not implement this part of HTTP"
        case .busy: "The key is busy"
        case .keyUnavailable: "The key does not answer"
        case .auditUnavailable: "The audit log cannot be written"
        case .tooManyConnections: "Too many connections are open"
        case .tooManyBytes: "Too many bytes of bodies are in flight"
        case .deadlineExceeded: "The answer took too long"
        }
    }

    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequest, .malformedBody, .missingParameter, .invalidParameter: .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .invalidRequest: .unprocessableContent
        case .notFound, .unknownApp, .unknownFeature, .unknownKey: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        case .reloadRefused, .keyNotInUse, .changeRefused: .conflict
        case .bodyTooLarge: .contentTooLarge
        case .uriTooLong: .uriTooLong
        case .unsupportedMediaType: .unsupportedMediaType
        case .rateLimited, .quotaExceeded: .tooManyRequests
        case .headerFieldsTooLarge: .requestHeaderFieldsTooLarge
        case .signingFailed, .internalError: .internalServerError
        case .notImplemented: .notImplemented
        case .busy, .keyUnavailable, .noKeyInUse, .auditUnavailable, .tooManyConnections, .tooManyBytes:
            .serviceUnavailable
        case .deadlineExceeded: .gatewayTimeout
        }
    }
}
