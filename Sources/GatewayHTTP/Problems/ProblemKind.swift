import HTTPTypes

/// Every kind of problem that the service answers with.
enum ProblemKind: String, CaseIterable {
    case malformedBody = "malformed-body"
    case missingParameter = "missing-parameter"
    case invalidParameter = "invalid-parameter"
    case invalidRequest = "invalid-request"
    case notFound = "not-found"
    case unknownApp = "unknown-app"
    case unknownFeature = "unknown-feature"
    case unknownKey = "unknown-key"
    case methodNotAllowed = "method-not-allowed"
    case bodyTooLarge = "body-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case signingFailed = "signing-failed"
    case internalError = "internal-error"
    case busy
    case keyUnavailable = "key-unavailable"

    /// The `type` of the problem document (RFC 9457 §3.1.1).
    var type: String { "urn:privyseal:problem:\(rawValue)" }

    /// The same for every problem of the kind (RFC 9457 §3.1.3).
    var title: String {
        switch self {
        case .malformedBody: "The body is not acceptable JSON"
        case .missingParameter: "A parameter is missing"
        case .invalidParameter: "A parameter is not allowed here"
        case .invalidRequest: "A member of the request is not acceptable"
        case .notFound: "There is nothing at this path"
        case .unknownApp: "The app is not served here"
        case .unknownFeature: "The feature is not served for this app"
        case .unknownKey: "The key is not one of the app's account"
        case .methodNotAllowed: "The path does not have this method"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body must be JSON"
        case .signingFailed: "The signature could not be made"
        case .internalError: "Something went wrong inside the gateway"
        case .busy: "The key has too much to do"
        case .keyUnavailable: "The key does not answer"
        }
    }

    var status: HTTPResponse.Status {
        switch self {
        case .malformedBody, .missingParameter, .invalidParameter: .badRequest
        case .invalidRequest: .unprocessableContent
        case .notFound, .unknownApp, .unknownFeature, .unknownKey: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .bodyTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .signingFailed, .internalError: .internalServerError
        case .busy, .keyUnavailable: .serviceUnavailable
        }
    }
}
