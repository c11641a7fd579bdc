import AuditKit
import Foundation
import Glibc
import NIOPosix
import SigningGateway
import TransparencyLog

/// A file that checkpoints are appended to. The gateway compares its log with them when it starts, so that it goes on with
/// no log that was truncated or put back.
struct CheckpointFile: CheckpointDestination {
    var name: String { "file" }
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    func send(_ note: String) async throws {
        try await NIOThreadPool.singleton.runIfActive { try append(note) }
    }

    /// A few hundred notes: of many, the last own one is the longest, and no other needs to be looked at.
    private static let tail = 64 << 10

    private func append(_ note: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw refusal }
        defer { close(descriptor) }
        // A note that was not written whole must not spoil the next.
        let separator = NoteList.separator(after: try end(of: descriptor, 2))
        let bytes = Array("\(separator)\(note)\n".utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else { throw refusal }
    }

    /// The last bytes of a file.
    private func end(of descriptor: Int32, _ count: Int) throws -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw refusal }
        let size = min(count, Int(status.st_size))
        var bytes = [UInt8](repeating: 0, count: size)
        guard pread(descriptor, &bytes, size, status.st_size - off_t(size)) == size else { throw refusal }
        return bytes
    }

    private var refusal: AuditSetupError {
        AuditSetupError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    /// The largest checkpoint that this log's key signed, as far as it stands among the last; of others' notes nothing.
    ///
    /// - Throws: also when there is something in the file and nothing of it is a checkpoint.
    func heads(signedBy verifier: NoteVerifier) throws(AuditSetupError) -> [AuditHead] {
        // What somebody appended, or the second place of several logs, may stand behind it: then more is read.
        try search(of: verifier.name) { notes in
            let claims = notes.compactMap { note in (try? Checkpoint(parsing: note.text)).map { (note, $0.size) } }
            // Somebody may have appended an old one once more.
            for (note, size) in claims.sorted(by: { $0.1 > $1.1 })
            where (try? Checkpoint(note, signedByLogWith: [verifier])) != nil {
                return [AuditHead(size: size, note: note.description)]
            }
            return nil
        } ?? []
    }

    /// Whether there is a checkpoint of this name, whoever signed it.
    func holdsCheckpoint(of origin: String) throws(AuditSetupError) -> Bool {
        try search(of: origin) { notes in
            notes.contains { (try? Checkpoint(parsing: $0.text))?.origin == origin } ? true : nil
        } ?? false
    }

    /// Looks at the end of the file, then at more and more of it.
    private func search<Found>(
        of origin: String, _ find: ([SignedNote]) -> Found?
    ) throws(AuditSetupError) -> Found? {
        guard access(path, F_OK) == 0 else { return nil }
        // Not to wait for somebody who writes into a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable }
        defer { close(descriptor) }
        var count = Self.tail
        while true {
            guard let bytes = try? end(of: descriptor, count) else { throw unreadable }
            let isWhole = bytes.count < count
            // The first note may be cut off at its beginning.
            if let list = try? NoteList(parsing: bytes), let found = find(list.notes) { return found }
            guard isWhole else {
                count *= 16
                continue
            }
            try requireCheckpoints(bytes, of: origin)
            return nil
        }
    }

    /// A file of something else is not appended to.
    private func requireCheckpoints(_ bytes: [UInt8], of origin: String) throws(AuditSetupError) {
        let list: NoteList
        do throws(NoteError) { list = try NoteList(parsing: bytes) } catch { throw foreign(" \(error)") }
        guard list.notes.isEmpty, !list.remainder.isEmpty else { return }
        // The first that went out may have been cut short by a full disk.
        let begin = origin + "\n"
        guard begin.hasPrefix(list.remainder) || list.remainder.hasPrefix(begin) else { throw foreign("") }
    }

    private func foreign(_ reason: String) -> AuditSetupError {
        AuditSetupError("\(path) does not hold checkpoints.\(reason) Move it away if that is meant.")
    }

    private var unreadable: AuditSetupError {
        AuditSetupError("The checkpoints in \(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
