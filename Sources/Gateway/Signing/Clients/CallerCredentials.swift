/// The credentials of a connection and a request. They contain a secret, so the descriptions are redacted.
public struct CallerCredentials: Sendable {
    /// The text after `Bearer ` in the Authorization header (RFC 6750 §2.1); nil without one. Empty text is wrong.
    public var bearerToken: String?
    /// From the client's certificate. The caller must set it only after TLS has verified it under the configured roots.
    public var certificate: CertificateFacts?
    /// The uid of the peer process of a Unix socket (`SO_PEERCRED`, unix(7)).
    public var uid: UInt32?

    public init(bearerToken: String? = nil, certificate: CertificateFacts? = nil, uid: UInt32? = nil) {
        self.bearerToken = bearerToken
        self.certificate = certificate
        self.uid = uid
    }
}

extension CallerCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The identities in a verified certificate. Made once for each connection.
public struct CertificateFacts: Sendable {
    /// The SHA-256 of its SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    public let fingerprint: Digest256
    /// In lower case, as UTF-8.
    let dnsNames: [[UInt8]]
    /// As UTF-8, because `String` treats canonically equivalent texts as equal.
    let uris: [[UInt8]]

    /// - Parameters:
    ///   - dnsNames: the subject alternative names of type dNSName (RFC 5280 §4.2.1.6). The common name is not one.
    ///   - uris: the subject alternative names of type uniformResourceIdentifier.
    public init(fingerprint: Digest256, dnsNames: [String] = [], uris: [String] = []) {
        self.fingerprint = fingerprint
        self.dnsNames = dnsNames.map(Self.lowerCase)
        self.uris = uris.map { Array($0.utf8) }
    }

    /// Changes ASCII letters only, as DNS compares names (RFC 4343 §3).
    static func lowerCase(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

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
