public import GatewayConfiguration
import NIOSSL
import Synchronization

/// The current certificate of a listener. A new certificate applies to new connections; open connections keep theirs.
public final class TLSIdentity: Sendable {
    private let state: Mutex<State>

    private struct State {
        var settings: GatewayConfiguration.TLS
        var material: TLSMaterial
        /// As of the last read.
        var marks: FileIdentities
        /// Counts the changes of `TLSMaterial.trust`.
        var trustRevision = 0
        /// The error that was logged last.
        var complaint: TLSError?
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

    /// Whether the error was logged already. Notes it as logged.
    func hasComplained(of error: TLSError) -> Bool {
        state.withLock { state in
            defer { state.complaint = error }
            return state.complaint == error
        }
    }

    /// - Returns: the context of a new connection, and the `trustGeneration` of its trust roots.
    func forConnection() throws -> (context: NIOSSLContext, trustRevision: Int) {
        let (material, snapshot) = state.withLock { ($0.material, $0.trustRevision) }
        return (try material.context(), snapshot)
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
                let hasNewTrust = state.material.trust != material.trust
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
