import Glibc

/// Held to change the register of keys: by the running gateway, or by a command while none runs. Two holders would
/// overwrite each other's states.
///
/// It is an flock(2) on the audit log's key file, and ends with the process. It is not on the database: closing a
/// second descriptor of it would drop SQLite's own locks.
final class KeyRegisterLock: Sendable {
    private let descriptor: Int32

    /// Nil if there is no key file yet, and so no other holder. Take it before opening the log: another holder could
    /// change what was read before.
    ///
    /// - Parameter patience: how long to wait for another holder. A command holds the lock for a moment.
    /// - Throws: `CommandError` if another process holds the lock, or if it cannot be taken.
    init?(beside keyPath: String, patience: Duration = .seconds(2)) throws(CommandError) {
        descriptor = open(keyPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.refusal(keyPath)
        }
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // `deinit` closes the descriptor.
            guard errno == EWOULDBLOCK || errno == EINTR, .now < end else { throw Self.refusal(keyPath) }
            usleep(50_000)
        }
    }

    private static func refusal(_ path: String) -> CommandError {
        guard errno == EWOULDBLOCK else {
            return CommandError(
                "The register of keys cannot be locked (\(path)): \(String(cString: strerror(errno))).")
        }
        return CommandError(
            "Another process uses the audit log with the key \(path) and its register of keys: a running gateway, or a "
                + "privyseal command. Stop it, or wait for its end. A second gateway needs another audit.database; a key "
                + "command can ask the running gateway with --admin.")
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
