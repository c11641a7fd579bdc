import Glibc
import NIOCore

/// The owner and mode of a Unix socket. A process may connect if it may write to the socket (unix(7)).
public struct SocketPermissions: Sendable {
    public var mode: UInt32
    /// Nil for the process' own.
    public var uid: UInt32?
    public var gid: UInt32?

    public init(mode: UInt32 = 0o600, uid: UInt32? = nil, gid: UInt32? = nil) {
        self.mode = mode
        self.uid = uid
        self.gid = gid
    }
}

/// Checks and permissions of a Unix socket. Binding replaces the socket of an ended process, but not one in use.
enum UnixSocket {
    /// - Throws: `ListenerError` if another process listens there, if the path is not a socket, or without its directory.
    static func requireFree(_ path: String) throws(ListenerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let directory = String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
            if access(directory, F_OK) == 0 { return }
            guard errno == ENOENT || errno == ENOTDIR else { throw .unopened(path, errno) }
            throw .noDirectory(directory, of: path)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .unusable("\(path) exists, and is not a socket; remove it, or choose another path")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else {
            throw .unusable("\(path) is too long for a Unix socket")
        }
        let result = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        if result == 0 { throw .occupied("another process listens on \(path)") }
    }

    /// Sets a socket's owner and mode. The path is resolved once, and a symbolic link in its last component is refused.
    /// So another user with write access to the directory cannot redirect the change to another file.
    static func setPermissions(_ permissions: SocketPermissions, at path: String) throws(ListenerError) {
        let descriptor = open(path, openPath | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unusable("\(path) cannot be opened: \(reason())") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw .unusable("\(path) is not the socket that the gateway created; check who may write to its directory")
        }
        if permissions.uid != nil || permissions.gid != nil {
            // -1 leaves the ID unchanged (chown(2)).
            let (uid, gid) = (permissions.uid ?? uid_t.max, permissions.gid ?? gid_t.max)
            guard fchownat(descriptor, "", uid, gid, emptyPath) == 0 else {
                throw .unusable("the owner of \(path) cannot be set: \(reason())")
            }
        }
        // fchmod(2) refuses an O_PATH descriptor; its path in /proc leads to the same inode (proc_pid_fd(5)).
        guard chmod("/proc/self/fd/\(descriptor)", permissions.mode) == 0 else {
            throw .unusable("the mode of \(path) cannot be set: \(reason())")
        }
    }

    /// `O_PATH` and `AT_EMPTY_PATH` (open(2)), which glibc declares only with _GNU_SOURCE.
    private static let openPath: Int32 = 0o10000000
    private static let emptyPath: Int32 = 0x1000

    private static func reason() -> String { String(cString: strerror(errno)) }
}
