import Glibc

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

    /// - Throws: `CommandError` if standard output cannot be written.
    static func print(_ line: String) throws {
        let output = standard
        output.write(Array((line + "\n").utf8))
        try output.finish()
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
        if failure == nil { note(DurableWrite.write(buffer, to: descriptor)) }
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
