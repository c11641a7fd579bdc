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

    /// - Returns: the context of a new connection, and the `trustRevision` of its trust roots.
    func forConnection() throws -> (context: NIOSSLContext, trustRevision: Int) {
        let (material, revision) = state.withLock { ($0.material, $0.trustRevision) }
        return (try material.context(), revision)
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
