extension GatewayConfiguration {
    /// The TLS settings of a listener. The files are not opened yet.
    public struct TLS: Sendable {
        public enum Version: String, CaseIterable, Comparable, Sendable {
            /// RFC 5246.
            case tls12 = "1.2"
            /// RFC 8446.
            case tls13 = "1.3"

            public static func < (left: Version, right: Version) -> Bool { left == .tls12 && right == .tls13 }
        }

        /// The chain in PEM, the listener's own certificate first.
        public let certificate: File
        /// The certificate's private key in PEM.
        public let key: File
        public let minimumVersion: Version
        public let clientCertificates: ClientCertificates
        /// The CA certificates in PEM for client certificates; nil if the listener does not ask for them.
        public let trustRoots: File?
        public let origin: ConfigurationOrigin
    }

    /// Whether a listener asks its clients for certificates.
    public enum ClientCertificates: String, CaseIterable, Sendable {
        case notAsked = "none"
        /// A client may show a certificate. An invalid one ends the handshake.
        case optional
        /// A connection requires a certificate.
        case required
    }

    /// A file that the program opens later.
    public struct File: Sendable {
        /// Absolute.
        public let path: String
        public let origin: ConfigurationOrigin
    }
}
