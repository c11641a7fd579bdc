import Glibc

/// Writes bytes to descriptors, and small files that must survive a power failure.
enum DurableWrite {
    /// Waits while a pipe is full that another process has set to non-blocking.
    ///
    /// - Returns: 0 if all bytes are written, otherwise the error of write(2).
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            // On a full disk, write(2) first writes what fits, without an error. The next call fails.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&readiness, 1, 1000)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// - Returns: whether all bytes are written and durable; otherwise `errno` has the reason.
    static func all(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let reason = write(bytes, to: descriptor)
        if reason != 0 { errno = reason }
        return reason == 0 && fsync(descriptor) == 0
    }

    /// Creates a file that is durable on return. Never overwrites one, and leaves no part of one.
    ///
    /// - Parameter mode: the permissions, whatever the umask says.
    static func create(_ path: String, _ text: String, mode: mode_t = 0o644) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        fchmod(descriptor, mode)
        guard all(Array(text.utf8), to: descriptor) else {
            let refusal = refusal(path)
            unlink(path)
            throw refusal
        }
        try synchronize(directoryOf: path)
    }

    /// Call before work that would be lost if the file could not be created.
    static func requireFree(_ path: String?) throws(CommandError) {
        guard let path, access(path, F_OK) == 0 else { return }
        throw CommandError("\(path) already exists. Name another file, or move that one away.")
    }

    private static func refusal(_ path: String) -> CommandError {
        CommandError("\(path) cannot be written: \(String(cString: strerror(errno))).")
    }

    /// Makes the name of a new file durable.
    static func synchronize(directoryOf path: String) throws(CommandError) {
        try synchronize(directory(of: path), O_DIRECTORY)
    }

    static func directory(of path: String) -> String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    static func synchronize(_ path: String, _ flags: Int32 = 0) throws(CommandError) {
        let descriptor = open(path, O_RDONLY | flags | O_CLOEXEC)
        let isDurable = descriptor >= 0 && fsync(descriptor) == 0
        let reason = errno
        if descriptor >= 0 { close(descriptor) }
        // Some file systems cannot synchronize a directory, and a writable directory need not be readable.
        guard !isDurable, flags & O_DIRECTORY == 0 || ![EINVAL, EOPNOTSUPP, EACCES].contains(reason) else { return }
        throw CommandError("\(path) cannot be synchronized: \(String(cString: strerror(reason))).")
    }
}
