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

    /// The bytes of the file; nil if there is none, which `LogFiles` finds.
    func size() throws(AuditStoreError) -> Int? { try FileIdentity(path)?.size }

    /// The writer calls this after a commit.
    ///
    /// - Parameters:
    ///   - written: the number of pages that the transaction wrote.
    ///   - sizeBefore: the result of `size()` within the transaction, before its commit. No other process writes to the
    ///     log then, or truncates it with a checkpoint.
    func didCommit(on connection: Connection, written: Int, sizeBefore: Int?) {
        // SQLite reports no new length then.
        guard written > 0 else { return }
        let now = connection.logPages
        if now <= pages.exchange(now, ordering: .relaxed) {
            checkpointed.store(0, ordering: .relaxed)
            next.store(Self.limit / pageSize, ordering: .relaxed)
        }
        // The pages of earlier commits were in the file, unless another process has truncated it.
        if let sizeBefore, now > written, sizeBefore < length(of: now - written) {
            return cutOff.store(true, ordering: .relaxed)
        }
        guard now >= next.load(ordering: .relaxed) else { return }
        next.store(now + Self.step / pageSize, ordering: .relaxed)
        // The commit is durable even if the checkpoint fails. The next commit reports a fault of the disk.
        _ = try? connection.passiveCheckpoint()
    }

    /// The bytes of a log with so many pages: a header of 32 bytes, and a header of 24 bytes before each page
    /// (sqlite.org/fileformat2.html#walformat).
    private func length(of pages: Int) -> Int { 32 + pages * (24 + pageSize) }

    /// Whether the maintenance thread has something to checkpoint.
    func needsCheckpoint() throws(AuditStoreError) -> Bool {
        let rest = pages.load(ordering: .relaxed) - checkpointed.load(ordering: .relaxed)
        guard rest * pageSize >= Self.step, !isCutOff, let size = try size() else { return false }
        return size >= length(of: pages.load(ordering: .relaxed))
    }

    func checkpoint(on connection: Connection) throws(SQLiteError) {
        checkpointed.store(try connection.passiveCheckpoint().copied, ordering: .relaxed)
    }
}
