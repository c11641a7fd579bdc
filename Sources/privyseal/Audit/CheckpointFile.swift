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

    private func append(_ note: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw refusal }
        defer { close(descriptor) }
        let bytes = Array("\(note)\n".utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else { throw refusal }
    }

    private var refusal: AuditSetupError {
        AuditSetupError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    /// What this log's key signed; of others' notes nothing. A note at the end that was not written whole does not count.
    func heads(signedBy verifier: NoteVerifier) throws(AuditSetupError) -> [AuditHead] {
        guard access(path, F_OK) == 0 else { return [] }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw AuditSetupError("The checkpoints in \(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        do throws(NoteError) {
            // Of many, the last is the longest: no other needs to be verified.
            return try NoteList(parsing: Array(data)).notes.suffix(8).compactMap { note in
                guard let checkpoint = try? Checkpoint(note, signedByLogWith: [verifier]) else { return nil }
                return AuditHead(size: checkpoint.size, note: note.description)
            }
        } catch {
            throw AuditSetupError("\(path) does not hold checkpoints. \(error) Move it away if that is meant.")
        }
    }
}
