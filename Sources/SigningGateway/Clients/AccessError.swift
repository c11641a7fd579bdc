/// Why a caller is not let in.
public enum AccessError: Error, Equatable, Sendable {
    /// The reason is for the operator's log. A caller is told the same, whatever it was.
    case unauthenticated(UnauthenticatedReason)
}

extension AccessError: CustomStringConvertible {
    /// What a caller may know.
    public var description: String { "The caller is not known here." }
}

/// What was wrong. Holds nothing of a token.
public enum UnauthenticatedReason: Error, Equatable, Sendable {
    /// Neither a token nor a certificate nor a uid that belongs to a client.
    case nobody
    /// The token is not one that was ever minted, so a typo.
    case malformedToken(ClientTokenError)
    /// The token is well-formed, but no client's.
    case unknownToken
    case expiredToken(client: String)
    /// The client's certificate has expired since the handshake, or is not valid yet.
    case certificateOutOfDate
    /// Two things were proved, and they are two different clients'.
    case twoClients(String, String)
}

extension UnauthenticatedReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nobody: "No token was shown, and neither a certificate nor a uid that is a client's."
        case .malformedToken(let error): "The token cannot be one: \(error)."
        case .unknownToken: "The token is well-formed, but no client's."
        case .expiredToken(let client): "The token of the client \(client) has expired."
        case .certificateOutOfDate: "The client's certificate is outside its period of validity."
        case .twoClients(let first, let second): "The request proves two clients, \(first) and \(second)."
        }
    }
}
