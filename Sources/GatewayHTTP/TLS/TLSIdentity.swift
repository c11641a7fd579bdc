import NIOSSL
import Synchronization

/// The certificate of a listener as of now. Connections take the one of the moment when they begin, so a new one reaches
/// the next connection and disturbs none that is open.
public final class TLSIdentity: Sendable {
    private let state: Mutex<State>

    private struct State {
        var plan: TLSPlan
        var material: TLSMaterial
        /// Of the files when they were read.
        var marks: FileMarks
        /// Grows by one when other client certificates are believed.
        var trustGeneration = 0
        /// What was said of them last.
        var complaint: TLSError?
    }

    /// - Throws: `TLSError` when the files cannot be used.
    public init(_ plan: TLSPlan) throws(TLSError) {
        let marks = FileMarks(plan.files)
        let material = try TLSMaterial(plan)
        state = Mutex(State(plan: plan, material: material, marks: marks))
    }

    public var plan: TLSPlan { state.withLock { $0.plan } }
    /// When the certificate ends, in seconds since 1970.
    public var expiry: Int { state.withLock { $0.material.expiry } }

    /// Whether the files have changed since they were read.
    var isOutdated: Bool {
        let (plan, marks) = state.withLock { ($0.plan, $0.marks) }
        return FileMarks(plan.files) != marks
    }

    /// Whether this was said already; from now on it was.
    func hasComplained(of error: TLSError) -> Bool {
        state.withLock { state in
            defer { state.complaint = error }
            return state.complaint == error
        }
    }

    /// What a new connection uses.
    ///
    /// - Returns: the context, and the generation of the trust roots that it verifies with.
    func forConnection() throws -> (context: NIOSSLContext, trustGeneration: Int) {
        let (material, generation) = state.withLock { ($0.material, $0.trustGeneration) }
        return (try material.context(), generation)
    }

    var trustGeneration: Int { state.withLock { $0.trustGeneration } }

    /// Whether a connection with this certificate, or without one, is allowed by the trust roots of the moment.
    func trusts(_ certificate: PeerCertificate?) -> Bool {
        let (plan, roots) = state.withLock { ($0.plan, $0.material.roots) }
        guard let certificate else { return plan.clientCertificates != .required }
        return certificate.isSigned(byOneOf: roots)
    }

    /// A certificate is valid only as long as the trust roots that have signed it.
    func noteIssuers(of certificate: PeerCertificate) -> PeerCertificate {
        certificate.issued(by: state.withLock { $0.material.roots })
    }

    /// Files that have been read and fit together, and are not in use yet.
    public struct Renewal {
        fileprivate let identity: TLSIdentity
        fileprivate let plan: TLSPlan
        fileprivate let material: TLSMaterial
        fileprivate let marks: FileMarks

        /// Uses them from the next connection on; connections end whose client certificates are not believed any more.
        ///
        /// - Returns: whether other client certificates are believed from now on.
        @discardableResult
        public func commit(_ name: ListenerName, _ registry: ConnectionRegistry) -> Bool {
            let hasNewTrust = identity.state.withLock { state in
                let hasNewTrust = state.material.trust != material.trust
                state = State(
                    plan: plan, material: material, marks: marks,
                    trustGeneration: state.trustGeneration + (hasNewTrust ? 1 : 0))
                return hasNewTrust
            }
            if hasNewTrust { registry.noteTrust(name, of: identity) }
            return hasNewTrust
        }
    }

    /// Reads the files, of this plan or of a new one. Nothing changes until they are committed.
    public func renewal(_ plan: TLSPlan? = nil) throws(TLSError) -> Renewal {
        let plan = plan ?? self.plan
        let marks = FileMarks(plan.files)
        return Renewal(identity: self, plan: plan, material: try TLSMaterial(plan), marks: marks)
    }
}
