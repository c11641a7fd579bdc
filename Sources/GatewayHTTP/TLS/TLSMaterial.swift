import Crypto
import NIOSSL
import SwiftASN1
import X509

/// A listener's TLS files, read and found to fit together.
struct TLSMaterial: Sendable {
    let context: NIOSSLContext
    /// When the leaf ends, in seconds since 1970.
    let expiry: Int
    /// Of everything that decides whose client certificate is believed.
    let trust: SHA256Digest
    /// Those that vouch for clients.
    let roots: [Certificate]

    init(_ plan: TLSPlan) throws(TLSError) {
        let chain = try Self.certificates(plan.certificate)
        let key: NIOSSLPrivateKey
        do { key = try NIOSSLPrivateKey(file: plan.key, format: .pem) } catch { throw .unreadable(path: plan.key) }
        let roots: [NIOSSLCertificate] = if let path = plan.trustRoots { try Self.certificates(path) } else { [] }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = plan.minimumVersion == .v13 ? .tlsv13 : .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        configuration.trustRoots = .certificates(roots)
        configuration.certificateVerification =
            switch plan.clientCertificates {
            case .none: .none
            case .optional: .optionalVerification
            case .required: .noHostnameVerification
            }
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw .unusable(certificate: plan.certificate, key: plan.key)
        }
        expiry = Int(chain.first?.notValidAfter ?? 0)
        trust = Self.digest(roots, plan)
        self.roots = roots.compactMap { root in
            guard let bytes = try? root.toDERBytes() else { return nil }
            return try? Certificate(derEncoded: bytes)
        }
    }

    /// TLS 1.2 with forward secrecy and authenticated encryption only (RFC 9325 §4.2); TLS 1.3 has nothing else.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func certificates(_ path: String) throws(TLSError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMFile(path) } catch { throw .unreadable(path: path) }
        guard !certificates.isEmpty else { throw .empty(path: path) }
        return certificates
    }

    private static func digest(_ roots: [NIOSSLCertificate], _ plan: TLSPlan) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array("\(plan.clientCertificates)".utf8))
        for root in roots { if let bytes = try? root.toDERBytes() { hash.update(data: bytes) } }
        return hash.finalize()
    }
}
