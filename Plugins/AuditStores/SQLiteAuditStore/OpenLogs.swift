import AuditKit
import SQLite
import SigningKit
import Synchronization

/// The audit logs that this process has open, with the files of each connection.
///
/// SQLite's locks on the WAL index (-shm) work between processes, and between the connections of a process to one
/// database. They do not work between two connections of a process to different databases. While an administrator
/// exchanges the files of a log, a reader could open the old database and then the -shm file of the new one. SQLite would
/// clear that index for the reader, and the writer would later remove its -wal file with the entries in it. So the
/// connections of this process are opened one after the other, and have all three files in common, or none.
final class OpenLogs: Sendable {
    static let shared = OpenLogs()

    /// Another process that closes a log as the last one removes two of its files.
    private static let attempts = 3

    private let opening = Exclusive(())
    private let open = Mutex<(byNumber: [Int: LogFileSet], last: Int)>(([:], 0))

    /// - Parameter connect: gets the files; opens the database and reads from it, so that SQLite opens all of them.
    /// - Throws: `.replaced` if the files are exchanged meanwhile, or if another connection has some of them.
    func open(
        _ path: String, _ connect: (LogFileSet) throws(AuditStoreError) -> LogTables
    ) throws(AuditStoreError) -> (tables: LogTables, files: LogFileSet) {
        try opening.use { (_) throws(AuditStoreError) in
            for _ in 0..<Self.attempts {
                guard let before = try LogFileSet(at: path) else { throw LogFiles.gone(path) }
                try requireSeparate(before, path)
                let tables = try connect(before)
                // SQLite has created the other two files, if they were missing.
                guard let files = try LogFileSet(at: path), files.isComplete, files.continues(before),
                    !tables.connection.hasMoved
                else { continue }
                try requireSeparate(files, path)
                register(files, of: tables.connection)
                return (tables, files)
            }
            throw .replaced("The files of the audit log \(path) were moved while it was opened.")
        }
    }

    private func requireSeparate(_ files: LogFileSet, _ path: String) throws(AuditStoreError) {
        guard open.withLock({ $0.byNumber.values.allSatisfy(files.isSameOrSeparate) }) else {
            throw .replaced("Some files of the audit log \(path) were exchanged while they are open.")
        }
    }

    private func register(_ files: LogFileSet, of connection: Connection) {
        let number = open.withLock { open in
            open.last += 1
            open.byNumber[open.last] = files
            return open.last
        }
        connection.onClose = { [self] in open.withLock { $0.byNumber[number] = nil } }
    }
}

/// The files of a log at one time: the database, its write-ahead log, and the WAL index.
struct LogFileSet: Sendable {
    let database: FileIdentity
    let log: FileIdentity?
    let index: FileIdentity?

    /// Nil without a database.
    ///
    /// - Parameter target: the path after symbolic links are resolved, if it is known: SQLite keeps the other files there.
    init?(at path: String, target: String? = nil) throws(AuditStoreError) {
        guard let database = try FileIdentity(path) else { return nil }
        let target = target ?? LogLocation.resolved(path)
        self.database = database
        log = try FileIdentity(target + "-wal")
        index = try FileIdentity(target + "-shm")
    }

    var isComplete: Bool { log != nil && index != nil }

    /// Whether two sets have all three files in common, or none.
    func isSameOrSeparate(_ other: Self) -> Bool {
        let shared = sharedFiles(other)
        return shared.allSatisfy { $0 } || !shared.contains(true)
    }

    func isSame(as other: Self) -> Bool { sharedFiles(other).allSatisfy { $0 } }

    private func sharedFiles(_ other: Self) -> [Bool] {
        [
            database.isSameFile(as: other.database), Self.isShared(log, other.log), Self.isShared(index, other.index),
        ]
    }

    private static func isShared(_ one: FileIdentity?, _ other: FileIdentity?) -> Bool {
        guard let one, let other else { return false }
        return one.isSameFile(as: other)
    }

    /// Whether this set has all files of an earlier one.
    func continues(_ earlier: Self) -> Bool {
        database.isSameFile(as: earlier.database) && (earlier.log == nil || Self.isShared(log, earlier.log))
            && (earlier.index == nil || Self.isShared(index, earlier.index))
    }
}
