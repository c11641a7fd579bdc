/// The TLS files and options of a listener.
public struct TLSSettings: Hashable, Sendable {
    public enum Version: Hashable, Sendable {
        case v12, v13
    }

    public enum ClientCertificates: Hashable, Sendable {
        case none
        /// The listener requests one. A certificate that no trust root verifies fails the handshake.
        case optional
        case required
    }

    /// Path of the chain in PEM, leaf first.
    public var certificate: String
    /// Path of the leaf's private key in PEM.
    public var key: String
    public var minimumVersion: Version
    public var clientCertificates: ClientCertificates
    /// Path of the trust roots for client certificates in PEM; nil if none are requested.
    public var trustRoots: String?

    public init(
        certificate: String, key: String, minimumVersion: Version = .v12,
        clientCertificates: ClientCertificates = .none,
        trustRoots: String? = nil
    ) {
        self.certificate = certificate
        self.key = key
        self.minimumVersion = minimumVersion
        self.clientCertificates = clientCertificates
        self.trustRoots = trustRoots
    }

    var files: [String] { [certificate, key] + (trustRoots.map { [$0] } ?? []) }
}
