import Glibc

/// Writes small files that must survive a power failure.
enum DurableWrite {
    /// - Returns: whether all bytes are written and durable; otherwise `errno` has the reason.
    static func all(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // On a full disk, write(2) first writes what fits, without an error. The next call fails.
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return fsync(descriptor) == 0
    }

    /// Makes the name of a new file durable.
    static func synchronize(directoryOf path: String) throws(AuditSetupError) {
        try synchronize(directory(of: path), O_DIRECTORY)
    }

    static func directory(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    static func synchronize(_ path: String, _ flags: Int32 = 0) throws(AuditSetupError) {
        let descriptor = open(path, O_RDONLY | flags | O_CLOEXEC)
        let isDurable = descriptor >= 0 && fsync(descriptor) == 0
        let reason = errno
        if descriptor >= 0 { close(descriptor) }
        // Some file systems cannot synchronize a directory, and a writable directory need not be readable.
        guard !isDurable, flags & O_DIRECTORY == 0 || ![EINVAL, EOPNOTSUPP, EACCES].contains(reason) else { return }
        throw AuditSetupError("\(path) cannot be synchronized: \(String(cString: strerror(reason))).")
    }
}
