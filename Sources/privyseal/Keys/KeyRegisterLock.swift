import Glibc

/// Held by whoever may change the register of keys: the gateway while it runs, or one command while it does not. Two would
/// overwrite each other's states.
///
/// It is an flock(2) on the file of the audit log's key, and ends with the process, however that ends. Not on the database: to
/// close a second descriptor of it would drop SQLite's own locks.
final class KeyRegisterLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `KeyRegisterBusy` when another process holds it.
    init(beside keyPath: String) throws(KeyRegisterBusy) {
        descriptor = open(keyPath, O_RDONLY | O_CLOEXEC)
        // Without a file there is nobody who could hold it.
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw KeyRegisterBusy(path: keyPath)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

struct KeyRegisterBusy: Error, CustomStringConvertible {
    let path: String

    var description: String {
        "Another process holds the register of keys (\(path)): a gateway that runs, whose admin listener was not reached, or "
            + "another privyseal keys. Ask that gateway, or stop it."
    }
}
