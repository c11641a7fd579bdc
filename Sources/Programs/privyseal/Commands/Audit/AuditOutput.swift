import Glibc

/// A file or standard output, with buffered writes.
final class AuditOutput {
    static var standard: AuditOutput { AuditOutput(StandardOutput.descriptor, path: nil, draft: nil) }

    /// Why writing stopped; nil without an error.
    private(set) var failure: String?
    private let descriptor: Int32
    /// Nil for standard output.
    private let path: String?
    /// The file's temporary name until it is complete, so that no part is taken for the whole; nil for a final name.
    private let draft: String?
    private var buffer: [UInt8] = []

    private static let capacity = 1 << 16

    private init(_ descriptor: Int32, path: String?, draft: String?) {
        self.descriptor = descriptor
        self.path = path
        self.draft = draft
        buffer.reserveCapacity(Self.capacity)
    }

    /// - Throws: `ExitCode` 1, after printing the error.
    static func print(_ line: String) throws {
        let output = standard
        output.write(Array((line + "\n").utf8))
        try output.finish()
    }

    /// Standard output, or a new file, which gets its name in `finish`. Never overwrites a file.
    static func open(_ path: String?) throws(AuditSetupError) -> AuditOutput {
        guard let path else { return .standard }
        guard access(path, F_OK) != 0 else { throw unmade(path, EEXIST) }
        // A stopped run may have left it.
        let draft = path + ".part"
        unlink(draft)
        return AuditOutput(try make(draft), path: path, draft: draft)
    }

    /// A new file under its final name.
    static func openDraft(_ path: String) throws(AuditSetupError) -> AuditOutput {
        AuditOutput(try make(path), path: path, draft: nil)
    }

    private static func make(_ path: String) throws(AuditSetupError) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw unmade(path, errno) }
        return descriptor
    }

    private static func unmade(_ path: String, _ reason: Int32) -> AuditSetupError {
        AuditSetupError("\(path) cannot be made: \(String(cString: strerror(reason))).")
    }

    /// - Returns: whether to continue.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        buffer += bytes
        if buffer.count >= Self.capacity { flush() }
        return failure == nil
    }

    func flush() {
        var rest = buffer[...]
        while failure == nil, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitForRoom()
            } else if errno != EINTR {
                fail()
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Another process may have set the pipe to non-blocking.
    private func waitForRoom() {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, -1)
    }

    private func fail() {
        failure = "\(path ?? "Standard output") cannot be written: \(String(cString: strerror(errno)))."
    }

    /// Writes the rest, makes a file durable, and gives it its name.
    func finish() throws(AuditSetupError) {
        flush()
        if failure == nil, path != nil, fsync(descriptor) != 0 { fail() }
        discardHandle()
        if let failure {
            discardFile()
            throw AuditSetupError(failure)
        }
        guard let path, let draft else { return }
        defer { discardFile() }
        // Unlike rename(2), link(2) replaces no file.
        guard link(draft, path) == 0 else { throw Self.unmade(path, errno) }
        try DurableWrite.synchronize(directoryOf: path)
    }

    /// Closes and removes the file.
    func abandon() {
        discardHandle()
        discardFile()
    }

    private func discardHandle() { if path != nil { close(descriptor) } }

    private func discardFile() { if let path { unlink(draft ?? path) } }
}
