import AuditKit
import SQLite
import Synchronization

/// The write-ahead log of the writer: its length after the last commit, and its checkpoints.
///
/// SQLite starts the log at its beginning again when a transaction begins while the log is completely checkpointed. Under
/// continuous writing, the maintenance thread never reaches the end, so the writer checkpoints the rest at `limit`.
final class WriteAheadLog: Sendable {
    /// Bytes after which the maintenance thread runs a checkpoint.
    static let step = 4 << 20
    /// Bytes after which the writer runs a checkpoint. The file then has at most about this size.
    static let limit = 32 << 20

    private let path: String
    private let pageSize: Int
    /// Pages in the log after the last commit.
    private let pages = Atomic(0)
    /// Pages that the maintenance thread has checkpointed.
    private let checkpointed = Atomic(0)
    /// The number of pages at which the writer runs its next checkpoint. A reader can hold the log for a while.
    private let next: Atomic<Int>
    private let cutOff = Atomic(false)

    init(at path: String, pageSize: Int) {
        self.path = path
        self.pageSize = pageSize
        next = Atomic(Self.limit / pageSize)
    }

    /// Whether another process truncated the log while it was in use: entries that were only there are lost.
    var isCutOff: Bool { cutOff.load(ordering: .relaxed) }

    /// Whether the file is shorter than after the last commit. It is not cut off if another process checkpointed and
    /// truncated it: the next commit is then at its beginning.
    func isShort() throws(AuditStoreError) -> Bool {
        // A header of 32 bytes, and frames with a header of 24 bytes (sqlite.org/fileformat2.html#walformat).
        let pages = pages.load(ordering: .relaxed)
        // `LogFiles` finds a missing file.
        guard pages > 0, let file = try FileIdentity(path) else { return false }
        return file.size < 32 + pages * (24 + pageSize)
    }

    /// The writer calls this after a commit.
    ///
    /// - Parameter wasShort: the result of `isShort()` just before the commit.
    func didCommit(on connection: Connection, wasShort: Bool) {
        let now = connection.logPages
        let before = pages.exchange(now, ordering: .relaxed)
        if now <= before {
            checkpointed.store(0, ordering: .relaxed)
            next.store(Self.limit / pageSize, ordering: .relaxed)
        } else if wasShort {
            return cutOff.store(true, ordering: .relaxed)
        }
        guard now >= next.load(ordering: .relaxed) else { return }
        next.store(now + Self.step / pageSize, ordering: .relaxed)
        // The commit is durable whatever the result is. The next commit reports a fault of the disk.
        _ = try? connection.passiveCheckpoint()
    }

    /// Whether the maintenance thread has something to checkpoint.
    func needsCheckpoint() throws(AuditStoreError) -> Bool {
        let rest = pages.load(ordering: .relaxed) - checkpointed.load(ordering: .relaxed)
        guard rest * pageSize >= Self.step, !isCutOff else { return false }
        return try !isShort()
    }

    func checkpoint(on connection: Connection) throws(SQLiteError) {
        checkpointed.store(try connection.passiveCheckpoint().copied, ordering: .relaxed)
    }
}
