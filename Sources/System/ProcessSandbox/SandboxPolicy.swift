/// What a signer process may do after `ProcessSandbox.apply`.
public struct SandboxPolicy: Hashable, Codable, Sendable {
    /// The sockets that the process may create (socket(2)). Sockets that it has already stay usable.
    public enum Network: String, CaseIterable, Codable, Sendable {
        case none
        /// `AF_UNIX` only.
        case local
        case any
    }

    public var network: Network
    /// Absolute paths of files and directories that the process may read and write. If there are any, the process may
    /// use only these, and read the system's own directories (`FileRules.systemDirectories`). Empty for the whole file
    /// system.
    public var paths: [String]
    /// Absolute paths of files and directories that the process must not use, also if they are below `paths`. A file
    /// that does not exist yet stays out of reach when another process creates it, except for root (`MountLayer`).
    public var hiddenPaths: [String]
    /// `RLIMIT_DATA` in bytes: heap, private writable mappings and the stacks of threads, 8 MiB each by default
    /// (getrlimit(2)). Shared mappings do not count. Nil for no limit.
    ///
    /// `RLIMIT_AS` has no layer: it would count the 64 MiB of address space that glibc reserves for each arena.
    public var memoryLimit: UInt64?
    /// `RLIMIT_NOFILE`.
    public var descriptorLimit: UInt64
    /// The process ID of the parent, whose end is the end of this process. Nil for a process that runs on its own.
    public var parent: Int32?
    /// Layers to leave out, such as one under which a vendor's library does not work. The report lists them as missing.
    public var omittedLayers: Set<SandboxLayer>

    public init(
        network: Network = .local, paths: [String] = [], hiddenPaths: [String] = [], memoryLimit: UInt64? = nil,
        descriptorLimit: UInt64 = 1024, parent: Int32? = nil, omittedLayers: Set<SandboxLayer> = []
    ) {
        self.network = network
        self.paths = paths
        self.hiddenPaths = hiddenPaths
        self.memoryLimit = memoryLimit
        self.descriptorLimit = descriptorLimit
        self.parent = parent
        self.omittedLayers = omittedLayers
    }
}
