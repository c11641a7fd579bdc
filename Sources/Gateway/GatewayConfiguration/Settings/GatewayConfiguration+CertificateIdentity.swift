import Encodings

extension GatewayConfiguration {
    /// What a client's TLS certificate must be or name. It must also have a chain to one of the trust roots.
    public struct CertificateIdentity: Sendable {
        public enum Claim: Hashable, Sendable {
            /// 32 bytes: the SHA-256 of the SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
            case fingerprint([UInt8])
            /// A dNSName among the subject's alternative names (RFC 5280 §4.2.1.6), in lower case.
            case dnsName(String)
            /// A uniformResourceIdentifier among the same names, such as a SPIFFE ID; compared exactly.
            case uri(String)
        }

        public let claim: Claim
        public let origin: ConfigurationOrigin

        static let reference = [
            SettingReference(
                path: "fingerprint", values: "`sha256:` and 64 hexadecimal digits", standard: "none",
                summary: "the SHA-256 of the certificate's SubjectPublicKeyInfo in DER"),
            SettingReference(
                path: "dnsName", values: "a DNS name without `*`", standard: "none",
                summary: "one of the certificate's subject alternative names; case is ignored"),
            SettingReference(
                path: "uri", values: "a URI", standard: "none",
                summary: "one of the certificate's subject alternative names, such as a SPIFFE ID; compared exactly"),
        ]
    }
}

extension GatewayConfiguration.CertificateIdentity.Claim: CustomStringConvertible {
    /// `sha256:…`, `dnsName:…` or `uri:…`.
    public var description: String {
        switch self {
        case .fingerprint(let digest): "sha256:" + Hexadecimal.encode(digest)
        case .dnsName(let name): "dnsName:" + name
        case .uri(let uri): "uri:" + uri
        }
    }
}
