public import StrictJSON

/// Why a request does not become a draft. The caller's fault, always.
public enum FeatureError: Error, Equatable, Sendable {
    /// The body is not JSON.
    case body(JSONSyntaxError)
    /// A member is missing, unknown, of the wrong kind or not allowed; the error names it.
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
