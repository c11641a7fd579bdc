import Glibc
import SignerClient
import SigningKit

/// Accepts connections of a gateway under another user, and starts a signer process for each. It holds no key.
struct SignerListener {
    private let path: String
    private let allowedUsers: Set<uid_t>

    /// Processes at one time. A gateway opens one connection for each token and process.
    private static let limit = 64

    /// - Throws: if the user does not exist.
    init(path: String, allowedUser name: String?) throws(CommandError) {
        self.path = path
        var users: Set<uid_t> = [0, geteuid()]
        if let name {
            guard let user = uid_t(name) ?? getpwnam(name)?.pointee.pw_uid else {
                throw CommandError("There is no user \"\(name)\" on this machine.")
            }
            users.insert(user)
        }
        allowedUsers = users
    }

    /// Ends with an error only.
    func run() throws(CommandError) {
        let listener = try bound()
        // The kernel removes ended processes from its table.
        signal(SIGCHLD, SIG_IGN)
        var children: Set<pid_t> = []
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                // A connection that ended before it was accepted, or too many open files.
                usleep(10_000)
                continue
            }
            children = children.filter { waitpid($0, nil, WNOHANG) == 0 }
            if let reason = refusal(of: connection, children.count) {
                StandardError.print("A connection was refused: \(reason)")
            } else {
                let (pid, code) = LaunchedSigner.spawn(
                    socket: connection, standardError: STDERR_FILENO, withCloud: true)
                if code == 0 {
                    children.insert(pid)
                } else {
                    StandardError.print("No signer process could be started: \(String(cString: strerror(code))).")
                }
            }
            close(connection)
        }
    }

    private func refusal(of connection: Int32, _ count: Int) -> String? {
        guard count < Self.limit else { return "there are \(Self.limit) signer processes already." }
        guard let user = UnixPeer.user(of: connection) else { return "the user of the other end is unknown." }
        return allowedUsers.contains(user) ? nil : "the user ID \(user) is not allowed; see --allow-user."
    }

    private func bound() throws(CommandError) -> Int32 {
        func failure() -> CommandError {
            CommandError("The signer cannot listen on \(path): \(String(cString: strerror(errno))).")
        }
        guard var address = UnixPeer.address(path) else {
            throw CommandError("The path \(path) is too long for a Unix socket.")
        }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw failure() }
        unlink(path)
        // The group of the process may connect, and SO_PEERCRED decides.
        let mask = umask(0o117)
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        umask(mask)
        guard code == 0, Glibc.listen(listener, 16) == 0 else { throw failure() }
        return listener
    }
}
