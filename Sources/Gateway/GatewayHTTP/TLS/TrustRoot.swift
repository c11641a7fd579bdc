import NIOSSL
import SwiftASN1
import X509

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
