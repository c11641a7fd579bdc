import AuditKit
import AuditLog
import Foundation
import Glibc
import NIOPosix
import TransparencyLog

/// Appends checkpoints to a file. A starting gateway compares its log with them, to refuse a truncated or older log.
struct CheckpointFile: CheckpointDestination {
    let name: String
    private let path: String

    /// - Parameter name: of the destination.
    init(_ path: String, name: String = "file") {
        (self.path, self.name) = (path, name)
    }

    func send(_ note: String) async throws {
        try await NIOThreadPool.singleton.runIfActive { try append(note) }
    }

    private func append(_ note: String) throws {
        let isNew = access(path, F_OK) != 0
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw refusal }
        defer { close(descriptor) }
        // A partial note must not corrupt the next one.
        let separator = NoteList.separator(after: try end(of: descriptor))
        guard DurableWrite.all(Array("\(separator)\(note)\n".utf8), to: descriptor) else { throw refusal }
        if isNew { try DurableWrite.synchronize(directoryOf: path) }
    }

    /// The last two bytes.
    private func end(of descriptor: Int32) throws -> [UInt8] {
        // A pipe has no end to seek to, so it counts as empty.
        let whole = max(0, lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: Int(min(2, whole)))
        guard bytes.isEmpty || pread(descriptor, &bytes, bytes.count, whole - off_t(bytes.count)) == bytes.count else {
            throw refusal
        }
        return bytes
    }

    private var refusal: CommandError {
        CommandError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    /// - Returns: the largest checkpoint that this log's key signed, wherever it is in the file.
    /// - Throws: also if the file has content but no checkpoint.
    func heads(signedBy verifier: NoteVerifier) throws(CommandError) -> [SignedTreeHead] {
        try reading { (descriptor) throws(CommandError) in
            let own = try CheckpointClaims(of: verifier.name, in: path, descriptor).largest {
                (try? Checkpoint($0, signedByLogWith: [verifier])) != nil
            }
            guard let own, let checkpoint = try? Checkpoint(parsing: own.text) else {
                try requireCheckpoints(of: verifier.name)
                return []
            }
            return [SignedTreeHead(size: checkpoint.size, note: own.description)]
        } ?? []
    }

    /// Whether the file has a checkpoint of this name, regardless of its signer.
    func holdsCheckpoint(of origin: String) throws(CommandError) -> Bool {
        try reading { (descriptor) throws(CommandError) in
            try CheckpointClaims(of: origin, in: path, descriptor).largest {
                (try? Checkpoint(parsing: $0.text))?.origin == origin
            } != nil
        } ?? false
    }

    /// Nil if there is no regular file.
    private func reading<Value>(_ body: (Int32) throws(CommandError) -> Value) throws(CommandError) -> Value? {
        guard access(path, F_OK) == 0 else { return nil }
        // O_NONBLOCK: do not wait for the writer of a FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw CheckpointClaims.unreadable(path) }
        defer { close(descriptor) }
        // A FIFO or a device keeps no checkpoints.
        return FileFacts(path)?.isRegular == true ? try body(descriptor) : nil
    }

    /// Refuses to append to a file with other content.
    private func requireCheckpoints(of origin: String) throws(CommandError) {
        var holdsNote = false
        var scanner = NoteScanner()
        try InputCopy(of: path).read { scanner.read($0) { _ in holdsNote = true } }
        guard !holdsNote else { return }
        if scanner.damaged > 0 { throw foreign(" \(scanner.failure ?? .unsigned)") }
        // A full disk may have cut off the first checkpoint.
        let (begin, rest) = (Array("\(origin)\n".utf8), scanner.remainder)
        guard begin.starts(with: rest) || rest.starts(with: begin) else { throw foreign("") }
    }

    private func foreign(_ reason: String) -> CommandError {
        CommandError("\(path) does not hold checkpoints.\(reason) Move it away if that is intended.")
    }
}
