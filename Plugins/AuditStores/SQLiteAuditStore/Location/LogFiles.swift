import AuditKit
import Glibc
import SQLite

/// The three files of a log that is open: the database, its write-ahead log and the index of that, which processes share.
struct LogFiles: Sendable {
    enum Change {
        case none
        /// They are there, but at least one is not to be written to.
        case readOnly(String)
        /// There is no database at the path.
        case databaseGone
        /// There is another one.
        case databaseReplaced
        /// The write-ahead log or its index is gone or another.
        case companionReplaced
        /// The write-ahead log lacks what was written into it.
        case logCutOff
    }

    /// As the location names it; a symbolic link may lead elsewhere.
    let path: String
    let logPath: String
    private let sharedPath: String
    private let database: FileMark
    private let log: FileMark
    private let shared: FileMark
    let extent: LogExtent

    /// - Parameter connection: one that has read from the database, so that all three are open.
    init(at path: String, of connection: Connection) throws(AuditStoreError) {
        self.path = path
        logPath = connection.path + "-wal"
        sharedPath = connection.path + "-shm"
        guard let database = try FileMark(path), let log = try FileMark(logPath), let shared = try FileMark(sharedPath),
            !connection.hasMoved
        else { throw .replaced("The files of the audit log \(path) were moved while it was opened.") }
        self.database = database
        self.log = log
        self.shared = shared
        extent = try LogExtent(logPath)
    }

    func change() throws(AuditStoreError) -> Change {
        guard let now = try FileMark(path) else { return .databaseGone }
        guard now.isSameFile(as: database) else { return .databaseReplaced }
        guard let log = try FileMark(logPath), log.isSameFile(as: self.log), let shared = try FileMark(sharedPath),
            shared.isSameFile(as: self.shared)
        else { return .companionReplaced }
        guard !extent.isCutOff else { return .logCutOff }
        guard now.isWritable else { return .readOnly(path) }
        return log.isWritable ? .none : .readOnly(logPath)
    }

    /// Throws unless what was opened is what is there.
    func checkInPlace() throws(AuditStoreError) {
        switch try change() {
        case .none, .readOnly: return
        case .databaseGone: throw Self.gone(path)
        case .databaseReplaced: throw .replaced("There is another file at \(path) than the audit log that was opened.")
        case .companionReplaced:
            throw .replaced("The -wal or -shm file beside the audit log \(path) was removed or replaced.")
        case .logCutOff: throw cutOff
        }
    }

    /// Throws when another database took the place of this one beside this one's write-ahead log. SQLite would write the log's
    /// pages into it: what is a mixture of both may look whole at first, and the right database would lack them later.
    func checkPair() throws(AuditStoreError) {
        guard let now = try FileMark(path), !now.isSameFile(as: database),
            let log = try FileMark(LogLocation.resolved(path) + "-wal"), log.isSameFile(as: self.log), log.size > 0
        else { return }
        throw .replaced(
            "There is another file at \(path) than the audit log that was opened, and the -wal file beside it belongs to the one "
                + "before: put back both files of one moment.")
    }

    var cutOff: AuditStoreError {
        .damaged(
            "\(logPath) was cut off while it was in use: entries that stood only there are lost. Stop the gateway, and put back a "
                + "copy of the audit log or begin a new one.")
    }

    /// A log never has a rollback journal beside it; SQLite would write what is in one into the log when it opens it.
    static func refuseJournal(beside path: String) throws(AuditStoreError) {
        let target = LogLocation.resolved(path)
        guard try FileMark(target + "-journal") != nil else { return }
        throw .damaged(
            "\(target)-journal lies beside the audit log, which never has one: somebody put it there, and SQLite would write "
                + "what is in it into the log. Move it away, and see what privyseal audit verify says.")
    }

    static func gone(_ path: String) -> AuditStoreError { .missing("There is no audit log at \(path).") }

    static func readOnly(_ path: String) -> AuditStoreError {
        .readOnly("The audit log's file \(path) is read-only: give its owner the right to write again.")
    }
}
