public import StrictJSON

/// Why a request does not become a draft. The cause is always the caller's request.
public enum FeatureError: Error, Equatable, Sendable {
    case body(JSONSyntaxError)
    /// A member is missing, unknown, of the wrong kind or not allowed. The error names it.
    case request(JSONReadError)
}

extension FeatureError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .body(let error): error.description
        case .request(let error): error.description
        }
    }
}
