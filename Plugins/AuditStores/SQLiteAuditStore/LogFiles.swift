import AuditKit
import CLinux
import Glibc
import SQLite

/// The three files of an open log: the database, its write-ahead log, and the WAL index, which processes share.
struct LogFiles: Sendable {
    enum Change: Equatable {
        case none
        /// All files are in place, but the one at this path is read-only.
        case readOnly(String)
        case databaseGone
        case databaseReplaced
        /// The write-ahead log or its index is missing or replaced.
        case companionReplaced
        /// The write-ahead log lacks data that was written to it.
        case logCutOff
    }

    /// The path of the location, which may be a symbolic link.
    let path: String
    let logPath: String
    private let sharedPath: String
    private let database: FileIdentity
    private let log: FileIdentity
    private let shared: FileIdentity

    /// - Parameter connection: must have read from the database, so that all three files are open.
    init(at path: String, of connection: Connection) throws(AuditStoreError) {
        self.path = path
        logPath = connection.path + "-wal"
        sharedPath = connection.path + "-shm"
        guard let database = try FileIdentity(path), let log = try FileIdentity(logPath),
            let shared = try FileIdentity(sharedPath), !connection.hasMoved
        else { throw .replaced("The files of the audit log \(path) were moved while it was opened.") }
        self.database = database
        self.log = log
        self.shared = shared
    }

    func change() throws(AuditStoreError) -> Change {
        guard let now = try FileIdentity(path) else { return .databaseGone }
        guard now.isSameFile(as: database) else { return .databaseReplaced }
        guard let log = try FileIdentity(logPath), log.isSameFile(as: self.log),
            let shared = try FileIdentity(sharedPath), shared.isSameFile(as: self.shared)
        else { return .companionReplaced }
        guard now.isWritable else { return .readOnly(path) }
        return log.isWritable ? .none : .readOnly(logPath)
    }

    /// Throws unless the opened files are still in place.
    func checkInPlace() throws(AuditStoreError) {
        switch try change() {
        case .none, .readOnly: return
        case .databaseGone: throw Self.gone(path)
        case .databaseReplaced: throw .replaced("The file at \(path) is not the audit log that was opened.")
        case .companionReplaced:
            throw .replaced("The -wal or -shm file of the audit log \(path) was removed or replaced.")
        case .logCutOff: throw cutOff
        }
    }

    /// Throws if another database is at the path, beside the write-ahead log of this one. SQLite would copy the log's
    /// pages into that database. The mixture may look intact at first, and this database would lack the pages.
    func checkPair() throws(AuditStoreError) {
        guard let now = try FileIdentity(path), !now.isSameFile(as: database),
            let log = try FileIdentity(LogLocation.resolved(path) + "-wal"), log.isSameFile(as: self.log), log.size > 0
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
        .readOnly("The audit log's file \(path) is read-only: give its owner write permission.")
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

    init(_ text: String) throws(AuditStoreError) {
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
    var index: String {
        (path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db"
    }
}
