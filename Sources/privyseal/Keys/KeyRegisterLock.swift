import Glibc

/// Held by whoever may change the register of keys: the gateway while it runs, or one command while it does not. Two would
/// overwrite each other's states.
///
/// It is an flock(2) on the file of the audit log's key, and ends with the process, however that ends. Not on the database: to
/// close a second descriptor of it would drop SQLite's own locks.
final class KeyRegisterLock: Sendable {
    private let descriptor: Int32

    /// Nil where there is no key yet, and so nobody who could hold it. To be taken before the log is opened: what is read
    /// before could be changed by whoever holds it.
    ///
    /// - Throws: `KeyRegisterBusy` when another process holds it, or it cannot be had.
    init?(beside keyPath: String) throws(KeyRegisterBusy) {
        descriptor = open(keyPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw KeyRegisterBusy(path: keyPath, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? nil : String(cString: strerror(errno))
            close(descriptor)
            throw KeyRegisterBusy(path: keyPath, reason: reason)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

struct KeyRegisterBusy: Error, CustomStringConvertible {
    let path: String
    /// What the system says; nil when another process holds it.
    var reason: String?

    var description: String {
        if let reason { return "The register of keys cannot be locked (\(path)): \(reason)." }
        return
            "Another process holds the register of keys (\(path)): a gateway that runs, whose admin listener was not reached, or "
            + "another privyseal keys. Ask that gateway, or stop it."
    }
}
