import Crypto
import GatewayConfiguration
import Glibc
import NIOSSL

/// A listener's TLS files, read and checked to fit together.
struct TLSMaterial: Sendable {
    private let configuration: TLSConfiguration
    /// The context of all connections; nil if each connection has its own.
    private let shared: NIOSSLContext?
    /// Expiry of the leaf in seconds since 1970.
    let expiry: Int
    /// The digest of the client certificate mode and the trust roots.
    let trust: SHA256Digest
    let roots: [TrustRoot]

    init(_ settings: GatewayConfiguration.TLS) throws(TLSError) {
        let chain = try Self.certificates(settings.certificate.path)
        let key = try Self.privateKey(settings.key.path)
        let roots: [NIOSSLCertificate] =
            if let file = settings.trustRoots { try Self.trustRoots(file.path) } else { [] }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = settings.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        configuration.trustRoots = .certificates(roots)
        configuration.certificateVerification =
            switch settings.clientCertificates {
            case .notAsked: .none
            case .optional: .optionalVerification
            case .required: .noHostnameVerification
            }
        let context: NIOSSLContext
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw .unusable(certificate: settings.certificate.path, key: settings.key.path)
        }
        self.configuration = configuration
        shared = settings.clientCertificates == .notAsked ? context : nil
        expiry = Int(chain.first?.notValidAfter ?? 0)
        trust = Self.digest(roots, settings)
        self.roots = roots.compactMap(TrustRoot.init)
    }

    /// NIOSSL cannot disable resumption, and a resumed session presents a client certificate unverified. A session
    /// resumes only in its own context. So with client certificates, each connection has its own context.
    func context() throws -> NIOSSLContext {
        if let shared { return shared }
        return try NIOSSLContext(configuration: configuration)
    }

    /// TLS 1.2 suites with forward secrecy and authenticated encryption only (RFC 9325 §4.2); TLS 1.3 has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func certificates(_ path: String) throws(TLSError) -> [NIOSSLCertificate] {
        let bytes = try TLSFile.read(path)
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(bytes) } catch { throw .unreadable(path: path) }
        guard !certificates.isEmpty else { throw .empty(path: path) }
        return certificates
    }

    /// The most trust roots. Creating the context of a connection takes time for each of them.
    static let rootLimit = 64

    private static func trustRoots(_ path: String) throws(TLSError) -> [NIOSSLCertificate] {
        var seen: Set<NIOSSLCertificate> = []
        let roots = try certificates(path).filter { seen.insert($0).inserted }
        guard roots.count <= rootLimit else { throw .tooManyRoots(path: path, count: roots.count) }
        return roots
    }

    private static func privateKey(_ path: String) throws(TLSError) -> NIOSSLPrivateKey {
        var bytes = try TLSFile.read(path)
        defer {
            bytes.withUnsafeMutableBytes { buffer in
                if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
            }
        }
        do { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch { throw .unreadable(path: path) }
    }

    private static func digest(_ roots: [NIOSSLCertificate], _ settings: GatewayConfiguration.TLS) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array("\(settings.clientCertificates)".utf8))
        for root in roots { if let bytes = try? root.toDERBytes() { hash.update(data: bytes) } }
        return hash.finalize()
    }
}
