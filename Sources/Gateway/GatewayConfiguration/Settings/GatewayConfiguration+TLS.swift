extension GatewayConfiguration {
    /// The TLS settings of a listener. The files are not opened yet.
    public struct TLS: SettingSection {
        public enum Version: String, CaseIterable, Comparable, Sendable {
            /// RFC 5246.
            case tls12 = "1.2"
            /// RFC 8446.
            case tls13 = "1.3"

            public static func < (left: Version, right: Version) -> Bool { left == .tls12 && right == .tls13 }
        }

        public internal(set) var certificate = File.none
        public internal(set) var key = File.none
        public internal(set) var minimumVersion: Version = .tls12
        public internal(set) var clientCertificates: ClientCertificates = .notAsked
        /// Nil if the listener does not ask for client certificates.
        public internal(set) var trustRoots: File?
        public let origin: ConfigurationOrigin

        static let settings: [Setting<Self>] = [
            .value(
                "certificate", \.certificate, .file(),
                missing: "the certificate chain in PEM, such as /etc/privyseal/tls/cert.pem",
                "the certificate chain in PEM, the listener's own certificate first"),
            .value(
                "key", \.key, .file(such: "/etc/privyseal/tls/key.pem"),
                missing: "the certificate's private key in PEM, such as /etc/privyseal/tls/key.pem",
                "the certificate's private key in PEM"),
            .value("minimumVersion", \.minimumVersion, .choice, "the oldest version of TLS that is accepted"),
            .value(
                "clientCertificates", \.clientCertificates, .choice,
                "`none`: not requested; `optional`: a caller may present one; `required`: no connection without one"),
            .optional(
                "trustRoots", \.trustRoots, .file(such: "/etc/privyseal/tls/ca.pem"),
                standard: "required unless `none`",
                "the CA certificates in PEM that verify client certificates, at most 64"),
        ]

        func finish(_ given: GivenSettings, _ findings: Findings) {
            guard !given.faulty.contains("clientCertificates") else { return }
            if clientCertificates == .notAsked {
                guard let origin = given.origin(of: "trustRoots") else { return }
                findings.fault(
                    "has no effect, because client certificates are not requested; set clientCertificates to optional "
                        + "or required, or remove it", at: origin)
            } else if !given.isPresentOrMisspelt("trustRoots") {
                findings.fault(
                    "is missing; give the CA certificates in PEM that verify client certificates, such as "
                        + "/etc/privyseal/tls/clients-ca.pem", at: given.origin.child("trustRoots"))
            }
        }
    }

    /// Whether a listener asks its clients for certificates.
    public enum ClientCertificates: String, CaseIterable, Sendable {
        case notAsked = "none"
        /// A client may show a certificate. An invalid one ends the handshake.
        case optional
        /// A connection requires a certificate.
        case required
    }
}
