import Glibc

/// A Unix socket's path, before it is bound: what is left behind by a process that is gone is replaced, what a living
/// one listens on is not.
enum UnixSocket {
    /// - Throws: `ListenerError` when another process answers there, or when the path is something else.
    static func requireFree(_ path: String) throws(ListenerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .occupied("\(path) is there, and is not a socket") }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard var address = address(of: path) else { throw .occupied("\(path) is too long for a Unix socket") }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { throw .occupied("another process listens on \(path)") }
    }

    private static func address(of path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isSet = withUnsafeMutableBytes(of: &address.sun_path) { room in
            // The last byte stays zero: the path's end.
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        return isSet ? address : nil
    }
}
