/// How a listener proves itself, and what it asks of those who connect.
public struct TLSPlan: Hashable, Sendable {
    public enum Version: Hashable, Sendable {
        case v12, v13
    }

    public enum ClientCertificates: Hashable, Sendable {
        /// None is asked for.
        case none
        /// Who has one shows it; one that the trust roots do not vouch for ends the handshake.
        case optional
        case required
    }

    /// The path of the chain in PEM, leaf first.
    public var certificate: String
    /// The path of the leaf's private key in PEM.
    public var key: String
    public var minimumVersion: Version
    public var clientCertificates: ClientCertificates
    /// The path of the certificates in PEM that vouch for clients; nil where none are asked for.
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
