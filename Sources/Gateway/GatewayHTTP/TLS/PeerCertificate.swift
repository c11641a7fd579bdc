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
    private let leaf: Certificate
    /// notBefore and notAfter (RFC 5280 §4.1.2.5), in seconds since 1970.
    private let validity: ClosedRange<Int64>
    /// The validity of the trust roots that signed it directly; empty if an intermediate certificate did.
    private var issuers: [ClosedRange<Int64>] = []

    /// - Parameter channel: a channel whose handshake is complete. Call on its event loop.
    init?(of channel: any Channel) {
        guard let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate(),
            let key = try? certificate.extractPublicKey().toSPKIBytes(),
            let fingerprint = Digest256(bytes: Array(SHA256.hash(data: key))),
            let bytes = try? certificate.toDERBytes(), let leaf = try? Certificate(derEncoded: bytes)
        else { return nil }
        let (begin, end) = (Int64(certificate.notValidBefore), Int64(certificate.notValidAfter))
        guard begin <= end else { return nil }
        self.leaf = leaf
        validity = begin...end
        var dnsNames: [String] = []
        var uris: [String] = []
        // RFC 5280 §4.2.1.6. Names in the subject are ignored (RFC 9525 §6.3).
        for name in (try? leaf.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames([]) {
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
        validity.contains(time.seconds) && (issuers.isEmpty || issuers.contains { $0.contains(time.seconds) })
    }

    /// Whether a root signed it directly. False with intermediate certificates, which are not kept after the handshake.
    func isSigned(byOneOf roots: [TrustRoot]) -> Bool { roots.contains(where: isSigned) }

    /// A copy that is valid only while one of the roots that signed it is valid.
    func issued(by roots: [TrustRoot]) -> PeerCertificate {
        var certificate = self
        certificate.issuers = roots.filter(isSigned).map(\.validity)
        return certificate
    }

    private func isSigned(by root: TrustRoot) -> Bool {
        let issuer = root.certificate
        return issuer.subject == leaf.issuer && issuer.publicKey.isValidSignature(leaf.signature, for: leaf)
    }
}

/// A trust root for client certificates.
struct TrustRoot: Sendable {
    let certificate: Certificate
    /// notBefore and notAfter (RFC 5280 §4.1.2.5), in seconds since 1970.
    let validity: ClosedRange<Int64>

    /// Nil if the certificate cannot be parsed.
    init?(_ root: NIOSSLCertificate) {
        guard let bytes = try? root.toDERBytes(), let certificate = try? Certificate(derEncoded: bytes) else {
            return nil
        }
        let (begin, end) = (Int64(root.notValidBefore), Int64(root.notValidAfter))
        guard begin <= end else { return nil }
        self.certificate = certificate
        validity = begin...end
    }
}
