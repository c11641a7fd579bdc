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

    /// More than a few hundred notes: of many, the last own one is the longest, and no other needs to be looked at.
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

    /// The newest checkpoint that this log's key signed, as far as it stands among the last; of others' notes nothing.
    func heads(signedBy verifier: NoteVerifier) throws(AuditSetupError) -> [AuditHead] {
        guard access(path, F_OK) == 0 else { return [] }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let bytes = try? end(of: descriptor, Self.tail) else {
            throw AuditSetupError("The checkpoints in \(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        close(descriptor)
        do throws(NoteError) {
            // The first note may be cut off at its beginning.
            for note in try NoteList(parsing: bytes).notes.reversed() {
                guard let checkpoint = try? Checkpoint(note, signedByLogWith: [verifier]) else { continue }
                return [AuditHead(size: checkpoint.size, note: note.description)]
            }
            return []
        } catch {
            throw AuditSetupError("\(path) does not hold checkpoints. \(error) Move it away if that is meant.")
        }
    }
}
