import Crypto
import NIOCore
import NIOSSL
import SigningGateway
import SigningKit
import SwiftASN1
import X509

/// A client's certificate; only there when the handshake has found it to be vouched for.
struct PeerCertificate: Sendable {
    let facts: CertificateFacts
    private let leaf: Certificate
    /// notBefore and notAfter (RFC 5280 §4.1.2.5), in seconds since 1970.
    private let validity: ClosedRange<Int64>

    /// - Parameter channel: one whose handshake is complete. Called on its event loop.
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
        // RFC 5280 §4.2.1.6; names in the subject are not looked at (RFC 9525 §6.3).
        for name in (try? leaf.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames([]) {
            switch name {
            case .dnsName(let name): dnsNames.append(name)
            case .uniformResourceIdentifier(let uri): uris.append(uri)
            default: break
            }
        }
        facts = CertificateFacts(fingerprint: fingerprint, dnsNames: dnsNames, uris: uris)
    }

    /// The handshake has checked it; a connection may live longer than a certificate.
    func isValid(at time: Timestamp) -> Bool { validity.contains(time.seconds) }

    /// Whether one of these has signed it itself. With certificates in between nothing is known any more: they came with
    /// the handshake, and went.
    func isSigned(byOneOf roots: [Certificate]) -> Bool {
        roots.contains { $0.subject == leaf.issuer && $0.publicKey.isValidSignature(leaf.signature, for: leaf) }
    }
}
