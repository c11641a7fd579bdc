import Glibc

/// Allows one archiving of a log at a time: two would take each other's moved segments for damage.
enum ArchiveLock {
    /// Locks the log's directory until the process ends (flock(2)). Nothing else locks it.
    static func take(beside database: String) throws(AuditSetupError) {
        let directory = DurableWrite.directory(of: database)
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw AuditSetupError("\(directory) cannot be opened: \(String(cString: strerror(errno))).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? "another such command is running" : String(cString: strerror(errno))
            close(descriptor)
            throw AuditSetupError("The log in \(directory) cannot be archived now: \(reason).")
        }
    }
}
