import Crypto
import Glibc
import NIOSSL

/// A listener's TLS files, read and found to fit together.
struct TLSMaterial: Sendable {
    private let configuration: TLSConfiguration
    /// For all connections; nil where each has one of its own.
    private let shared: NIOSSLContext?
    /// When the leaf ends, in seconds since 1970.
    let expiry: Int
    /// Of everything that decides whose client certificate is believed.
    let trust: SHA256Digest
    /// Those that vouch for clients.
    let roots: [TrustRoot]

    init(_ plan: TLSPlan) throws(TLSError) {
        let chain = try Self.certificates(plan.certificate)
        let key = try Self.privateKey(plan.key)
        let roots: [NIOSSLCertificate] = if let path = plan.trustRoots { try Self.trustRoots(path) } else { [] }
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
        let context: NIOSSLContext
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw .unusable(certificate: plan.certificate, key: plan.key)
        }
        self.configuration = configuration
        shared = plan.clientCertificates == .none ? context : nil
        expiry = Int(chain.first?.notValidAfter ?? 0)
        trust = Self.digest(roots, plan)
        self.roots = roots.compactMap(TrustRoot.init)
    }

    /// A session that is resumed proves a client certificate again without verifying it. NIOSSL cannot turn resumption off,
    /// but a session is resumed only in the context that made it: where certificates are asked for, each connection has a
    /// context of its own.
    func context() throws -> NIOSSLContext {
        if let shared { return shared }
        return try NIOSSLContext(configuration: configuration)
    }

    /// TLS 1.2 with forward secrecy and authenticated encryption only (RFC 9325 §4.2); TLS 1.3 has nothing else.
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

    /// The most trust roots: each connection has a context of its own, and to make it takes time for each of them.
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

    private static func digest(_ roots: [NIOSSLCertificate], _ plan: TLSPlan) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array("\(plan.clientCertificates)".utf8))
        for root in roots { if let bytes = try? root.toDERBytes() { hash.update(data: bytes) } }
        return hash.finalize()
    }
}
