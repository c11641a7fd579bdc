extension GatewayConfiguration {
    /// How a listener speaks TLS. The files have not been opened yet.
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
        /// In PEM, what client certificates must lead to; there unless they are not asked for.
        public let trustRoots: File?
        public let origin: ConfigurationOrigin
    }

    /// Whether a listener asks its clients for certificates.
    public enum ClientCertificates: String, CaseIterable, Sendable {
        case notAsked = "none"
        /// Who has one may show it; a wrong one ends the handshake.
        case optional
        /// Without one there is no connection.
        case required
    }

    /// A file that somebody opens later.
    public struct File: Sendable {
        /// Absolute.
        public let path: String
        /// For the error when it cannot be used.
        public let origin: ConfigurationOrigin
    }
}
