import CProcessSandbox
import Glibc

/// A ruleset under construction (landlock(7)). Its rights are missing everywhere except where a rule allows them.
struct LandlockRuleset: ~Copyable {
    /// `LANDLOCK_ACCESS_NET_BIND_TCP` and `LANDLOCK_ACCESS_NET_CONNECT_TCP` of ABI 4.
    static let allTCP: UInt64 = 0b11
    /// `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET` and `LANDLOCK_SCOPE_SIGNAL` of ABI 6.
    static let socketScope: UInt64 = 0b01
    static let signalScope: UInt64 = 0b10

    private let descriptor: Int32
    let handled: LandlockAccess

    /// The ABI version of the kernel.
    static func version() throws(LayerFailure) -> Int32 {
        switch privyseal_landlock_version() {
        case let version where version > 0: return version
        case -ENOSYS: throw LayerFailure("the kernel has no Landlock")
        case -EOPNOTSUPP: throw LayerFailure("Landlock is not enabled at boot")
        case -EPERM: throw LayerFailure("a filter of the service refuses landlock_create_ruleset(2)")
        case let error: throw LayerFailure("landlock_create_ruleset", errno: -error)
        }
    }

    init(files: LandlockAccess, tcp: UInt64, scopes: UInt64) throws(LayerFailure) {
        var attributes = privyseal_landlock_attributes(
            handled_access_fs: files.rawValue, handled_access_net: tcp, scoped: scopes)
        descriptor = privyseal_landlock_create(&attributes)
        handled = files
        if descriptor < 0 { throw LayerFailure("landlock_create_ruleset", errno: -descriptor) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Allows access to a file, or to everything below a directory. A symbolic link, or a file that cannot be opened,
    /// gets no rule.
    ///
    /// - Parameter directory: the descriptor of the directory to which the path is relative.
    func allow(
        _ path: String, _ access: LandlockAccess, in directory: Int32 = AT_FDCWD, kind: Directory.Kind = .unknown
    ) {
        guard kind != .symbolicLink else { return }
        let file = openat(directory, path, Self.openPath | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let rights = isDirectory(file, kind) ? access : access.intersection(.ofFiles)
        _ = privyseal_landlock_allow(descriptor, file, rights.intersection(handled).rawValue)
    }

    private func isDirectory(_ file: Int32, _ kind: Directory.Kind) -> Bool {
        guard kind == .unknown else { return kind == .directory }
        var found = stat()
        return fstat(file, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// Restricts the calling thread. It needs `PR_SET_NO_NEW_PRIVS` or a capability.
    func restrict() throws(LayerFailure) {
        try LayerFailure.check("landlock_restrict_self", errno: privyseal_landlock_restrict(descriptor))
    }

    /// `O_PATH` (open(2)), which glibc declares only with _GNU_SOURCE.
    private static let openPath: Int32 = 0o10000000
}
