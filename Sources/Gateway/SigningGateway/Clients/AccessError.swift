/// Why the gateway refuses a caller.
public enum AccessError: Error, Equatable, Sendable {
    /// The reason is for the operator's log. The answer to the caller is always the same.
    case unauthenticated(UnauthenticatedReason)
}

extension AccessError: CustomStringConvertible {
    /// The text for the caller.
    public var description: String { "The caller is unknown." }
}

/// What was wrong with the credentials. It contains no part of a token.
public enum UnauthenticatedReason: Error, Equatable, Sendable {
    /// There is no token, and no certificate or uid of a client.
    case nobody
    /// The text does not have the form of a token. It is probably mistyped.
    case malformedToken(ClientTokenError)
    /// The token is well-formed, but belongs to no client.
    case unknownToken
    case expiredToken(client: String)
    /// The client's certificate has expired since the handshake, or is not valid yet.
    case certificateOutOfDate
    /// The credentials belong to two different clients.
    case twoClients(String, String)
}

extension UnauthenticatedReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nobody: "The request has no token, and no certificate or uid of a client."
        case .malformedToken(let error): "The token is malformed: \(error)."
        case .unknownToken: "The token is well-formed, but belongs to no client."
        case .expiredToken(let client): "The token of the client \(client) has expired."
        case .certificateOutOfDate: "The client's certificate is outside its period of validity."
        case .twoClients(let first, let second): "The credentials belong to two clients, \(first) and \(second)."
        }
    }
}
