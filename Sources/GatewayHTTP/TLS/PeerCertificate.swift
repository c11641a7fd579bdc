import Crypto
import NIOCore
import NIOSSL
import SigningGateway
import SwiftASN1
import X509

/// What a client's certificate says; only called when the handshake has found it to be vouched for.
enum PeerCertificate {
    static func facts(of channel: any Channel) -> CertificateFacts? {
        guard let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate(),
            let bytes = try? certificate.toDERBytes(), let leaf = try? Certificate(derEncoded: bytes)
        else { return nil }
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
        let fingerprint = Digest256(bytes: Array(SHA256.hash(data: leaf.publicKey.subjectPublicKeyInfoBytes)))
        return fingerprint.map { CertificateFacts(fingerprint: $0, dnsNames: dnsNames, uris: uris) }
    }
}
