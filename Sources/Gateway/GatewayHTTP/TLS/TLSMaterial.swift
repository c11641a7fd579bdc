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
    /// The trust roots, in the order of the file.
    let certificates: [NIOSSLCertificate]
    /// Those that can be parsed.
    let roots: [ParsedCertificate]

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
        certificates = roots
        self.roots = roots.compactMap(ParsedCertificate.init)
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
}

/// Reads a whole certificate or key file. It never blocks on a FIFO.
enum TLSFile {
    /// In bytes.
    static let limit = 1 << 20

    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO waits for a writer (fifo(7)).
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { throw .unfit(path: path) }
        // One buffer, so that no copy of a key remains in memory. The extra byte shows whether the file has grown.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if result == 0 { break }
            if result > 0 { count += result } else if errno != EINTR { throw .unreadable(path: path) }
        }
        guard count < bytes.count else { throw .unreadable(path: path) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

/// Why a listener's TLS files cannot be used. Messages name the file and the remedy, and contain nothing of a key.
public enum TLSError: Error, Equatable, CustomStringConvertible {
    /// Missing, not readable, or not PEM.
    case unreadable(path: String)
    /// Not a regular file, or longer than `TLSFile.limit`.
    case unfit(path: String)
    /// Contains no certificate.
    case empty(path: String)
    /// More trust roots than `TLSMaterial.rootLimit`.
    case tooManyRoots(path: String, count: Int)
    /// The key does not belong to the certificate, or TLS does not support its kind.
    case unusable(certificate: String, key: String)

    public var description: String {
        switch self {
        case .unreadable(let path):
            "\(path) cannot be read, or is not PEM; check the path, its permissions and its content."
        case .unfit(let path):
            "\(path) is not a regular file of at most \(TLSFile.limit >> 20) MiB; give a file in PEM."
        case .empty(let path): "\(path) holds no certificate; give certificates in PEM."
        case .tooManyRoots(let path, let count):
            "\(path) holds \(count) different certificates, and at most \(TLSMaterial.rootLimit) may vouch for clients; "
                + "remove those that no client needs."
        case .unusable(let certificate, let key):
            "The key in \(key) does not belong to the first certificate in \(certificate), or TLS cannot use it."
        }
    }
}
