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
    /// - Throws: `CommandError` if another process holds the lock, or if it cannot be taken.
    init?(beside keyPath: String) throws(CommandError) {
        descriptor = open(keyPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.refusal(keyPath)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let refusal = Self.refusal(keyPath)
            close(descriptor)
            throw refusal
        }
    }

    private static func refusal(_ path: String) -> CommandError {
        guard errno == EWOULDBLOCK else {
            return CommandError(
                "The register of keys cannot be locked (\(path)): \(String(cString: strerror(errno))).")
        }
        return CommandError(
            "Another process locks the register of keys (\(path)): a running gateway whose admin listener was not "
                + "reached, or another privyseal keys. Use that gateway's admin listener, or stop the gateway.")
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
