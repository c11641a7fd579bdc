/// How a signer runs: one or more processes that hold keys and load the code of their locations, apart from the gateway.
public struct SignerSettings: Sendable {
    /// Which sockets a signer process may create.
    public enum Network: String, CaseIterable, Codable, Sendable {
        case none
        /// Unix sockets, for the daemons of some tokens (pcscd, tpm2-abrmd, `p11-kit server`).
        case local
        case any
    }

    public struct Sandbox: Hashable, Sendable {
        /// The paths that the process may use besides those of the system; empty for all paths except `hiddenPaths`.
        public var paths: [String] = []
        /// The limit of the process's data (`RLIMIT_DATA`), in MiB.
        public var memory = 2048

        public init() {}
    }

    /// See `KeyBackend.signerName(of:)`.
    public var name: String
    /// Whether the gateway opens the locations in its own process.
    public var isInProcess = false
    /// The number of processes for each location.
    public var processes = 1
    public var network = Network.local
    /// The Unix socket of a signer that runs on its own, under another user; nil for child processes of the gateway.
    public var socket: String?
    public var sandbox = Sandbox()
    /// The files of the gateway and of other signers.
    public var hiddenPaths: [String] = []

    public init(name: String) {
        self.name = name
    }
}

/// The hidden paths do not count: a configuration with one more key needs no new process for the others.
extension SignerSettings: Hashable {
    public static func == (left: SignerSettings, right: SignerSettings) -> Bool {
        left.name == right.name && left.isInProcess == right.isInProcess && left.processes == right.processes
            && left.network == right.network && left.socket == right.socket && left.sandbox == right.sandbox
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
