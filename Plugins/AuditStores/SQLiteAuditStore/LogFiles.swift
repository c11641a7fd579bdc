import AuditKit
import CLinux
import Glibc
import SQLite
import Synchronization

/// The files of the writer, and whether they are still in place.
struct LogFiles: Sendable {
    enum Change: Equatable {
        case none
        /// All files are in place, but the one at this path is read-only.
        case readOnly(String)
        case databaseGone
        case databaseReplaced
        /// The write-ahead log or its index is missing or replaced.
        case companionReplaced
    }

    /// The path of the location, which may be a symbolic link.
    let path: String
    private let target: String
    private let opened: LogFileSet

    init(at path: String, _ opened: LogFileSet) {
        self.path = path
        self.opened = opened
        target = LogLocation.resolved(path)
    }

    var logPath: String { target + "-wal" }

    func change() throws(AuditStoreError) -> Change {
        guard let now = try LogFileSet(at: path, target: target) else { return .databaseGone }
        guard now.database.isSameFile(as: opened.database) else { return .databaseReplaced }
        guard now.isSame(as: opened) else { return .companionReplaced }
        guard now.database.isWritable else { return .readOnly(path) }
        return now.log?.isWritable == true ? .none : .readOnly(logPath)
    }

    func isSame(as other: LogFileSet) -> Bool { opened.isSame(as: other) }

    /// Throws unless the opened files are still in place.
    func checkInPlace() throws(AuditStoreError) {
        switch try change() {
        case .none, .readOnly: return
        case .databaseGone: throw Self.gone(path)
        case .databaseReplaced: throw .replaced("The file at \(path) is not the audit log that was opened.")
        case .companionReplaced:
            throw .replaced("The -wal or -shm file of the audit log \(path) was removed or replaced.")
        }
    }

    /// Throws if a connection has another database with the write-ahead log of this one. SQLite would copy the log's
    /// pages into that database. The mixture may look intact at first, and this database would lack the pages.
    func checkPair(in found: LogFileSet) throws(AuditStoreError) {
        guard !found.database.isSameFile(as: opened.database), let log = found.log, log.size > 0,
            let own = opened.log, log.isSameFile(as: own)
        else { return }
        throw .replaced(
            "The file at \(path) is not the audit log that was opened, and the -wal file belongs to the earlier one: "
                + "restore both files from the same backup.")
    }

    var cutOff: AuditStoreError {
        .damaged(
            "\(logPath) was truncated while it was in use: entries that were only in this file are lost. Stop the "
                + "gateway, and restore a copy of the audit log or begin a new one.")
    }

    /// A log never has a rollback journal. SQLite would copy such a file's content into the database when it opens it.
    static func refuseJournal(beside path: String) throws(AuditStoreError) {
        let target = LogLocation.resolved(path)
        guard try FileIdentity(target + "-journal") != nil else { return }
        throw .damaged(
            "\(target)-journal is not a file of the audit log, which never has a journal. SQLite would write its "
                + "content into the log. Move the file away, and run privyseal audit verify.")
    }

    static func gone(_ path: String) -> AuditStoreError { .missing("There is no audit log at \(path).") }

    static func readOnly(_ path: String) -> AuditStoreError {
        .readOnly(
            "The audit log's file \(path) is read-only: give its owner write permission, or mount its file system for "
                + "writing.")
    }
}

/// Identifies a file (statx(2)), and tells whether it may be written.
struct FileIdentity: Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let mode: mode_t
    /// In bytes.
    let size: Int

    /// Nil if there is no file.
    init?(_ path: String) throws(AuditStoreError) {
        var mark = privyseal_file_mark()
        let error = privyseal_mark_file(path, &mark)
        if error == ENOENT || error == ENOTDIR { return nil }
        guard error == 0 else { throw .failed("\(path) cannot be examined: \(String(cString: strerror(error))).") }
        device = mark.device
        inode = mark.inode
        mode = mark.mode
        size = Int(clamping: mark.size)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }

    /// The owner's write bit. The kernel does not enforce it for root, but an administrator clears it on purpose.
    var isWritable: Bool { mode & S_IWUSR != 0 }

    func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

/// The location of a log: a path with an optional `sqlite:` prefix.
struct LogLocation: Hashable, Sendable {
    /// Absolute.
    let path: String

    init(_ location: AuditLocation) throws(AuditStoreError) {
        let text = location.text
        let prefix = SQLiteAuditStore.scheme + ":"
        let path = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        guard !path.isEmpty, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw .unfit(
                "'\(text)' is not the path of an audit log: give the path of a file, such as "
                    + "/var/lib/privyseal/audit.db.")
        }
        self.path = path.hasPrefix("/") ? path : Self.resolved(".") + "/" + path
    }

    /// The directory of the database file, after symbolic links are resolved.
    var directory: String {
        let path = Self.resolved(path)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Resolves symbolic links: SQLite keeps the -wal and -shm files beside the resolved file.
    static func resolved(_ path: String) -> String {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) } ?? path
    }

    /// The path of the search index: `.index.db` instead of `.db` at the end.
    var index: String { (path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db" }
}

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
        checkpointed.store(try connection.passiveCheckpoint(), ordering: .relaxed)
    }
}
