/// What a connection and a request show of who is calling. It holds a secret, so it has no description.
public struct CallerEvidence: Sendable {
    /// What follows `Bearer ` in the Authorization header (RFC 6750 §2.1), nil without one. An empty one is wrong, not absent.
    public var bearerToken: String?
    /// Of the client's certificate, when TLS has verified it under the configured roots. Others must not get here.
    public var certificate: CertificateFacts?
    /// Of the process at the other end of a Unix socket (`SO_PEERCRED`, unix(7)).
    public var uid: UInt32?

    public init(bearerToken: String? = nil, certificate: CertificateFacts? = nil, uid: UInt32? = nil) {
        self.bearerToken = bearerToken
        self.certificate = certificate
        self.uid = uid
    }
}

extension CallerEvidence: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a verified certificate says of its holder. Made once for each connection.
public struct CertificateFacts: Sendable {
    /// The SHA-256 of its SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    public let fingerprint: Digest256
    /// In lower case, as UTF-8.
    let dnsNames: [[UInt8]]
    /// As UTF-8: two texts that only look alike are two.
    let uris: [[UInt8]]

    /// - Parameters:
    ///   - dnsNames: its subject alternative names of the type dNSName (RFC 5280 §4.2.1.6). The subject's common name is none.
    ///   - uris: those of the type uniformResourceIdentifier.
    public init(fingerprint: Digest256, dnsNames: [String] = [], uris: [String] = []) {
        self.fingerprint = fingerprint
        self.dnsNames = dnsNames.map(Self.lowerCase)
        self.uris = uris.map { Array($0.utf8) }
    }

    /// ASCII letters only, as DNS compares names (RFC 4343 §3).
    static func lowerCase(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
