public import GatewayConfiguration
import Glibc
import Logging
import NIOSSL
public import ServiceLifecycle
import Synchronization

/// The current certificate of a listener. A new certificate applies to new connections; open connections keep theirs.
public final class TLSIdentity: Sendable {
    private let state: Mutex<State>

    private struct State {
        var settings: GatewayConfiguration.TLS
        var material: TLSMaterial
        /// As of the last read.
        var marks: FileIdentities
        /// Counts the changes of the trust roots and of the client certificate mode.
        var trustRevision = 0
    }

    /// - Throws: `TLSError` when the files cannot be used.
    public init(_ settings: GatewayConfiguration.TLS) throws(TLSError) {
        let marks = FileIdentities(settings.files)
        let material = try TLSMaterial(settings)
        state = Mutex(State(settings: settings, material: material, marks: marks))
    }

    public var settings: GatewayConfiguration.TLS { state.withLock { $0.settings } }
    /// Expiry of the certificate in seconds since 1970.
    public var expiry: Int { state.withLock { $0.material.expiry } }

    /// Whether the files have changed since they were read.
    var isOutdated: Bool {
        let (settings, marks) = state.withLock { ($0.settings, $0.marks) }
        return FileIdentities(settings.files) != marks
    }

    /// - Returns: the context of a new connection, whether it asks for a client certificate, and the `trustRevision` of
    ///   its trust roots.
    func forConnection() throws -> (context: NIOSSLContext, asksForCertificate: Bool, trustRevision: Int) {
        let (material, revision) = state.withLock { ($0.material, $0.trustRevision) }
        return (try material.context(), material.asksForCertificate, revision)
    }

    var trustRevision: Int { state.withLock { $0.trustRevision } }

    /// Whether the current trust roots allow a connection with this certificate, or without one.
    func trusts(_ certificate: PeerCertificate?) -> Bool {
        let (settings, roots) = state.withLock { ($0.settings, $0.material.roots) }
        guard let certificate else { return settings.clientCertificates != .required }
        return certificate.isSigned(byOneOf: roots)
    }

    /// Limits the certificate's validity to that of the trust roots that signed it.
    func noteIssuers(of certificate: PeerCertificate) -> PeerCertificate {
        certificate.issued(by: state.withLock { $0.material.roots })
    }

    /// TLS files that are read and fit together, but are not in use yet.
    public struct Renewal {
        fileprivate let identity: TLSIdentity
        fileprivate let settings: GatewayConfiguration.TLS
        fileprivate let material: TLSMaterial
        fileprivate let marks: FileIdentities

        /// Uses the files for new connections. Ends connections whose client certificates are no longer trusted.
        ///
        /// - Returns: whether the trusted client certificates have changed.
        @discardableResult
        public func commit(_ name: ListenerName, _ registry: ConnectionRegistry) -> Bool {
            let hasNewTrust = identity.state.withLock { state in
                let hasNewTrust =
                    state.material.certificates != material.certificates
                    || state.settings.clientCertificates != settings.clientCertificates
                state = State(
                    settings: settings, material: material, marks: marks,
                    trustRevision: state.trustRevision + (hasNewTrust ? 1 : 0))
                return hasNewTrust
            }
            if hasNewTrust { registry.noteTrust(name, of: identity) }
            return hasNewTrust
        }
    }

    /// Reads the files of the current or of new settings. Nothing changes before `commit`.
    public func renewal(_ settings: GatewayConfiguration.TLS? = nil) throws(TLSError) -> Renewal {
        let settings = settings ?? self.settings
        let marks = FileIdentities(settings.files)
        return Renewal(identity: self, settings: settings, material: try TLSMaterial(settings), marks: marks)
    }
}

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

    /// Whether handshakes ask for a client certificate.
    var asksForCertificate: Bool { shared == nil }

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
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
            throw .noCertificate(path: path)
        }
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
        do { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch { throw .noKey(path: path) }
    }
}

extension GatewayConfiguration.TLS {
    fileprivate var files: [String] { [certificate.path, key.path] + (trustRoots.map { [$0.path] } ?? []) }
}

/// Identifies the versions of files by inode, size and modification time.
private struct FileIdentities: Equatable {
    private let marks: [[Int]]

    init(_ paths: [String]) {
        marks = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [
                Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec,
            ]
        }
    }
}

/// Checks every second whether a listener's TLS files have changed, and loads the new ones. If only one of them has
/// been replaced yet, they do not fit together, and the watcher tries again.
public final class TLSWatcher: Service {
    private let listeners: [(name: ListenerName, identity: TLSIdentity)]
    private let registry: ConnectionRegistry
    private let logger = Logger(label: "privyseal.tls")

    public init(_ listeners: [(name: ListenerName, identity: TLSIdentity)], registry: ConnectionRegistry) {
        self.listeners = listeners
        self.registry = registry
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var complaints: [ListenerName: (error: TLSError, isLogged: Bool)] = [:]
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                for (name, identity) in self.listeners {
                    complaints[name] =
                        identity.isOutdated ? self.renew(name, identity, previous: complaints[name]) : nil
                }
            }
        }
    }

    /// - Parameter previous: the error of the last second. Only a repeated error is logged, and once, because files are
    ///   replaced one by one.
    /// - Returns: the current error.
    private func renew(
        _ name: ListenerName, _ identity: TLSIdentity, previous: (error: TLSError, isLogged: Bool)?
    ) -> (error: TLSError, isLogged: Bool)? {
        do throws(TLSError) {
            let hasNewTrust = try identity.renewal().commit(name, registry)
            logger.info(
                "The listener uses its new TLS files",
                metadata: ["listener": "\(name.rawValue)", "newTrustRoots": "\(hasNewTrust)"])
            return nil
        } catch {
            guard error == previous?.error else { return (error, false) }
            if previous?.isLogged != true {
                logger.error(
                    "The listener's TLS files have changed but cannot be used; the previous ones stay in use: \(error)",
                    metadata: ["listener": "\(name.rawValue)"])
            }
            return (error, true)
        }
    }
}
