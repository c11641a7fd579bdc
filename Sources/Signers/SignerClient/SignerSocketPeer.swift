public import Glibc
import SigningKit

/// Connections to a signer that runs on its own, under another user.
enum SignerSocketPeer {
    /// Connects, and checks the user of the other end (SO_PEERCRED in unix(7)). Runs on the thread of `SignerLauncher`.
    ///
    /// - Returns: a connected socket.
    static func connect(to path: String) throws(KeyError) -> Int32 {
        func failure(_ action: String) -> KeyError {
            .unavailable("The signer at \(path) \(action): \(String(cString: strerror(errno))).")
        }
        guard var address = UnixPeer.address(path) else {
            throw .unfit("The path of the signer's socket \(path) is too long for a Unix socket.")
        }
        // A signer that does not accept connections must not stop this thread.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(type), 0)
        guard descriptor >= 0 else { throw failure("cannot be connected") }
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        do throws(KeyError) {
            guard code == 0 else { throw failure("cannot be connected") }
            try check(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The process at the other end must belong to the owner of the socket's file: another user could only have put its
    /// own socket there.
    private static func check(_ descriptor: Int32, _ path: String) throws(KeyError) {
        var status = stat()
        guard let peer = UnixPeer.user(of: descriptor), stat(path, &status) == 0 else {
            throw .unavailable("The user of the signer at \(path) is unknown.")
        }
        guard peer == status.st_uid else {
            throw .unfit(
                "The process at \(path) has the user ID \(peer), but the socket's file belongs to \(status.st_uid).")
        }
        guard peer == 0 || status.st_mode & 0o002 == 0 || status.st_uid == geteuid() else {
            throw .unfit("All users can connect to the signer at \(path); set its mode to 0660.")
        }
    }
}

/// Addresses and credentials of Unix sockets (unix(7)).
public enum UnixPeer {
    /// Nil if the path is too long.
    public static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { return false }
            room.copyBytes(from: path.utf8)
            return true
        }
        return fits ? address : nil
    }

    /// The user of the process at the other end (SO_PEERCRED).
    public static func user(of descriptor: Int32) -> uid_t? {
        // struct ucred: process ID, user ID, group ID.
        var credentials: (pid: pid_t, uid: uid_t, gid: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials.uid
    }
}
