import AuditKit
import Glibc
import Synchronization

/// Held to change the register of keys: by the running gateway, or by a command while none runs. Two holders would
/// overwrite each other's states.
///
/// It is an flock(2) on the audit log's key file, and on the database if that is a file: another process may have a copy of
/// the key, or know the database by another name. It ends with the process.
final class KeyRegisterLock: Sendable {
    private let paths: [String]
    private let timeout: Duration
    /// By path.
    private let descriptors = Mutex<[String: Int32]>([:])

    /// Locks the files that exist. Take it before opening the log: another holder could change what was read before.
    ///
    /// - Parameters:
    ///   - keyPath: of the log's private key.
    ///   - timeout: how long to wait for another holder. A command holds the lock for a moment.
    /// - Throws: `CommandError` if another process holds the lock, or if it cannot be taken.
    init(_ keyPath: String, _ location: AuditLocation, timeout: Duration = .seconds(2)) throws(CommandError) {
        paths = [keyPath] + [location.path].compactMap(\.self)
        self.timeout = timeout
        try lockRest()
    }

    /// Locks the files that did not exist before: the first use of a log makes them.
    func lockRest() throws(CommandError) {
        for path in paths where descriptors.withLock({ $0[path] == nil }) {
            // Opening a FIFO would wait for a writer (fifo(7)).
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                if errno == ENOENT { continue }
                throw refusal(path)
            }
            descriptors.withLock { $0[path] = descriptor }
            let end = ContinuousClock.now + timeout
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR, .now < end else { throw refusal(path) }
                usleep(50_000)
            }
        }
    }

    private func refusal(_ path: String) -> CommandError {
        guard errno == EWOULDBLOCK else {
            return CommandError(
                "The register of keys cannot be locked (\(path)): \(String(cString: strerror(errno))).")
        }
        return CommandError(
            "Another process uses the audit log with \(path) and its register of keys: a running gateway, or a "
                + "privyseal command. Stop it, or wait for its end. A second gateway needs another audit.database; a key "
                + "command can ask the running gateway with --admin.")
    }

    /// The log must be closed: closing a descriptor of a database drops SQLite's own locks in this process (close(2),
    /// fcntl_locking(2)).
    deinit {
        for descriptor in descriptors.withLock({ $0.values }) { close(descriptor) }
    }
}
