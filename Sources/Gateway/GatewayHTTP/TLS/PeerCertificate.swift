import Crypto
import NIOCore
import NIOSSL
import Signing
import SigningKit
import SwiftASN1
import X509

/// A client certificate that the TLS handshake has verified.
struct PeerCertificate: Sendable {
    let facts: CertificateFacts
    private let leaf: ParsedCertificate
    /// The validity of the trust roots that signed it directly; empty if an intermediate certificate did.
    private var issuers: [ClosedRange<Int64>] = []

    /// - Parameter channel: a channel whose handshake is complete. Call on its event loop.
    init?(of channel: any Channel) {
        guard let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate(),
            let key = try? certificate.extractPublicKey().toSPKIBytes(),
            let fingerprint = Digest256(bytes: Array(SHA256.hash(data: key))),
            let leaf = ParsedCertificate(certificate)
        else { return nil }
        self.leaf = leaf
        var dnsNames: [String] = []
        var uris: [String] = []
        // RFC 5280 §4.2.1.6. Names in the subject are ignored (RFC 9525 §6.3).
        for name in (try? leaf.certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames([]) {
            switch name {
            case .dnsName(let name): dnsNames.append(name)
            case .uniformResourceIdentifier(let uri): uris.append(uri)
            default: break
            }
        }
        facts = CertificateFacts(fingerprint: fingerprint, dnsNames: dnsNames, uris: uris)
    }

    /// A connection may outlive the certificate and its trust root, which the handshake has checked.
    func isValid(at time: Timestamp) -> Bool {
        leaf.validity.contains(time.seconds) && (issuers.isEmpty || issuers.contains { $0.contains(time.seconds) })
    }

    /// Whether a root signed it directly. False with intermediate certificates, which are not kept after the handshake.
    func isSigned(byOneOf roots: [ParsedCertificate]) -> Bool { roots.contains(where: leaf.isSigned) }

    /// A copy that is valid only while one of the roots that signed it is valid.
    func issued(by roots: [ParsedCertificate]) -> PeerCertificate {
        var certificate = self
        certificate.issuers = roots.filter(leaf.isSigned).map(\.validity)
        return certificate
    }
}

/// A client's certificate, or a trust root for such certificates.
struct ParsedCertificate: Sendable {
    let certificate: Certificate
    /// notBefore and notAfter (RFC 5280 §4.1.2.5), in seconds since 1970.
    let validity: ClosedRange<Int64>

    /// Nil if the certificate cannot be parsed.
    init?(_ certificate: NIOSSLCertificate) {
        let (begin, end) = (Int64(certificate.notValidBefore), Int64(certificate.notValidAfter))
        guard begin <= end, let bytes = try? certificate.toDERBytes(),
            let parsed = try? Certificate(derEncoded: bytes)
        else { return nil }
        self.certificate = parsed
        validity = begin...end
    }

    func isSigned(by root: ParsedCertificate) -> Bool {
        let issuer = root.certificate
        return issuer.subject == certificate.issuer
            && issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
    }
}
