import SQLite
import Synchronization

/// Who copies the write-ahead log into the database, and when. It starts anew only when a transaction begins while all of
/// it is copied, which under continuous writing would never be so: `maintain` copies nearly all of it beside the writer, and
/// the writer itself copies the small rest between two transactions.
final class LogCopying: Sendable {
    let pageSize: Int
    /// Pages in the log.
    private let written = Atomic(0)
    /// Of them, copied by `maintain`.
    private let copied = Atomic(0)
    /// Pages from which the writer tries again when the log did not start anew: somebody was reading from it.
    private let retry = Atomic(0)

    /// Bytes in the log from which copying begins. Small commits write the same pages again and again, of which only the
    /// last is copied: the longer the log, the less is copied in all, and the less often the disk is busy with it.
    static let threshold = 16 << 20
    /// Bytes that the writer may copy itself: a few milliseconds.
    static let smallRest = 1 << 20
    /// Bytes in the log from which the writer copies itself however much it is.
    static let limit = 64 << 20

    init(pageSize: Int) {
        self.pageSize = pageSize
    }

    /// By the writer, after a commit.
    func didCommit(on connection: Connection) {
        let pages = connection.logPages
        if pages < written.exchange(pages, ordering: .relaxed) {
            copied.store(0, ordering: .relaxed)
            retry.store(0, ordering: .relaxed)
        }
        guard pages >= retry.load(ordering: .relaxed), isDue(pages) else { return }
        retry.store(pages + Self.smallRest / pageSize, ordering: .relaxed)
        // The commit is durable whatever becomes of this; what is wrong with the disk the next commit says.
        guard let progress = try? connection.copyLog() else { return }
        copied.store(progress.copied, ordering: .relaxed)
    }

    private func isDue(_ pages: Int) -> Bool {
        guard pages * pageSize >= Self.threshold else { return false }
        let copied = copied.load(ordering: .relaxed)
        return copied > 0 && rest(pages, copied) <= Self.smallRest || pages * pageSize >= Self.limit
    }

    private func rest(_ pages: Int, _ copied: Int) -> Int { max(0, pages - copied) * pageSize }

    /// Whether `maintain` has something to copy.
    var isWanted: Bool {
        let pages = written.load(ordering: .relaxed)
        return pages * pageSize >= Self.threshold && rest(pages, copied.load(ordering: .relaxed)) > Self.smallRest / 4
    }

    /// By `maintain`, on a connection of its own. What the writer adds meanwhile is less each time.
    func copy(on connection: Connection) throws(SQLiteError) {
        for _ in 0..<8 where isWanted {
            let progress = try connection.copyLog()
            guard progress.pages != nil else { return }
            copied.store(progress.copied, ordering: .relaxed)
        }
    }
}
