import SigningKit
public import StrictJSON

/// A body that a feature must refuse, and the expected error.
public struct FeatureRefusal: Sendable {
    public enum Expectation: Sendable {
        /// The body is not JSON.
        case body(JSONSyntaxError.Reason)
        /// The member at the path is missing.
        case missing(String)
        /// The member at the path is not known.
        case unknown(String)
        /// The value at the path is of another kind.
        case wrongKind(String, expected: JSONKind, found: JSONKind)
        /// The value at the path is not allowed, and the error's text contains `saying`.
        case invalid(String, saying: String)
    }

    public let body: [UInt8]
    public let expectation: Expectation

    public init(_ body: String, _ expectation: Expectation) {
        self.init(bytes: Array(body.utf8), expectation)
    }

    public init(bytes: [UInt8], _ expectation: Expectation) {
        body = bytes
        self.expectation = expectation
    }

    func isMet(by error: FeatureError) -> Bool {
        switch (expectation, error) {
        case (.body(let reason), .body(let error)): reason == error.reason
        case (.body, .request), (_, .body): false
        case (.missing(let path), .request(let error)): error == JSONReadError(.missing, at: path)
        case (.unknown(let path), .request(let error)): error.isUnknown && error.path == path
        case (.wrongKind(let path, let expected, let found), .request(let error)):
            error == JSONReadError(.wrongKind(expected: expected, found: found), at: path)
        case (.invalid(let path, let words), .request(let error)):
            error.isInvalid && error.path == path && error.description.contains(words)
        }
    }
}

extension JSONReadError {
    var isUnknown: Bool {
        if case .unknown = reason { true } else { false }
    }

    var isInvalid: Bool {
        if case .invalid = reason { true } else { false }
    }
}
