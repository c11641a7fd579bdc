import Glibc

/// Small files that have to be there after a power failure.
enum DurableWrite {
    /// Writes all of it, and has it on the disk when it returns.
    ///
    /// - Returns: whether it is; else `errno` says why not.
    static func all(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // What a full disk has room for is written, without an error: the next attempt has one.
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return fsync(descriptor) == 0
    }

    /// The name of a new file, in its directory.
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
        // Not every file system can do that with a directory, and one that may be written to need not be one that may be read.
        guard !isDurable, flags & O_DIRECTORY == 0 || ![EINVAL, EOPNOTSUPP, EACCES].contains(reason) else { return }
        throw AuditSetupError("\(path) cannot be synchronized: \(String(cString: strerror(reason))).")
    }
}
