import Glibc

/// Writes files that must survive a power failure.
enum DurableWrite {
    /// - Returns: whether all bytes are written and durable; otherwise `errno` has the reason.
    static func all(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        let reason = Descriptor.write(bytes, to: descriptor)
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
        guard let path else { return }
        guard access(path, F_OK) != 0 else {
            throw CommandError("\(path) already exists. Name another file, or move that one away.")
        }
        guard access(directory(of: path), W_OK) == 0 else { throw refusal(path) }
    }

    static func requireDirectory(of path: String) throws(CommandError) {
        guard access(directory(of: path), F_OK) == 0 else { throw refusal(path) }
    }

    private static func refusal(_ path: String) -> CommandError {
        guard errno == ENOENT else {
            return CommandError(
                "\(path) cannot be written: \(String(cString: strerror(errno))).",
                mayPass: [ENOSPC, EDQUOT, EROFS].contains(errno))
        }
        return CommandError("\(path) cannot be written: there is no directory \(directory(of: path)). Make it first.")
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

/// A new file or standard output, with buffered writes.
final class AuditOutput {
    static var standard: AuditOutput { AuditOutput(StandardOutput.descriptor, path: nil) }

    /// Why writing stopped; nil without an error.
    private(set) var failure: String?
    private let descriptor: Int32
    /// Nil for standard output.
    private let path: String?
    private var buffer: [UInt8] = []

    private static let capacity = 1 << 16

    private init(_ descriptor: Int32, path: String?) {
        self.descriptor = descriptor
        self.path = path
        buffer.reserveCapacity(Self.capacity)
    }

    /// Standard output, or a new file, which gets its name in `finish`. Never overwrites a file.
    static func open(_ path: String?) throws(CommandError) -> AuditOutput {
        guard let path else { return .standard }
        try DurableWrite.requireFree(path)
        // A stopped run may have left it.
        unlink(draft(of: path))
        let descriptor = Glibc.open(draft(of: path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw refusal(path, errno) }
        return AuditOutput(descriptor, path: path)
    }

    /// A file's name until it is complete, so that no part is taken for the whole.
    private static func draft(of path: String) -> String { path + ".part" }

    private static func refusal(_ path: String, _ reason: Int32) -> CommandError {
        CommandError("\(path) cannot be created: \(String(cString: strerror(reason))).")
    }

    /// - Returns: whether to continue.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        buffer += bytes
        if buffer.count >= Self.capacity { flush() }
        return failure == nil
    }

    func flush() {
        if failure == nil { note(Descriptor.write(buffer, to: descriptor)) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func note(_ reason: Int32) {
        guard reason != 0 else { return }
        failure = "\(path ?? "Standard output") cannot be written: \(String(cString: strerror(reason)))."
    }

    /// Writes the rest, makes a file durable, and gives it its name.
    ///
    /// - Parameter check: gets the temporary name, to read the file back before it gets its own.
    func finish(_ check: (_ draft: String) throws(CommandError) -> Void = { _ in }) throws(CommandError) {
        flush()
        guard let path else {
            if let failure { throw CommandError(failure) }
            return
        }
        if failure == nil, fsync(descriptor) != 0 { note(errno) }
        defer { abandon() }
        if let failure { throw CommandError(failure) }
        try check(Self.draft(of: path))
        // Unlike rename(2), link(2) replaces no file.
        guard link(Self.draft(of: path), path) == 0 else { throw Self.refusal(path, errno) }
        try DurableWrite.synchronize(directoryOf: path)
    }

    /// Closes the file, and removes its temporary name. Call it if `finish` is not called.
    func abandon() {
        guard let path else { return }
        close(descriptor)
        unlink(Self.draft(of: path))
    }
}
