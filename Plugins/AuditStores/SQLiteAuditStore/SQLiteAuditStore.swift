public import AuditKit
import Glibc
import SQLite
import SigningKit

/// An audit log in an SQLite database. See README.md in this folder.
public final class SQLiteAuditStore: AuditStore {
    static let scheme = "sqlite"
    public static let schemes = [scheme]

    public let identity: AuditIdentity
    let location: LogLocation
    let writerHandle: Exclusive<WriterHandle>
    private let shared: SharedWriterState
    /// Whether maintenance has ended.
    private let isMaintenanceClosed = Exclusive(false)
    private let indexing: Exclusive<Indexing>

    private init(_ writer: Writer, at location: LogLocation, timeout: Duration) {
        identity = writer.identity
        self.location = location
        let shared = SharedWriterState(writer)
        writerHandle = Exclusive(WriterHandle(writer: writer, shared: shared, timeout: timeout))
        self.shared = shared
        indexing = Exclusive(Indexing(location: location, identity: writer.identity, shared: shared))
    }

    /// - Parameter role: makes no difference: SQLite serialises the writers of a file.
    public static func open(
        at location: AuditLocation, as role: AuditRole, timeout: Duration
    ) throws(AuditStoreError) -> SQLiteAuditStore {
        let location = try LogLocation(location)
        return SQLiteAuditStore(
            try Writer(at: location.path, timeout: timeout), at: location, timeout: timeout)
    }

    public static func read(at location: AuditLocation) throws(AuditStoreError) -> any AuditReader {
        try SQLiteAuditReader(at: LogLocation(location))
    }

    public func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try writerHandle.use { (handle) throws(AuditStoreError) in
            try handle.ready().write(body)
        }
    }

    public func maintain() throws(AuditStoreError) {
        try isMaintenanceClosed.use { (isClosed) throws(AuditStoreError) in
            guard !isClosed else { throw .closed }
            let (files, log) = shared.current
            guard try log.needsCheckpoint() else { return try files.checkInPlace() }
            let tables = try shared.connect(to: location.path)
            try AuditStoreError.at(location.path) { () throws(SQLiteError) in try log.checkpoint(on: tables.connection)
            }
        }
    }

    public func index() throws(AuditStoreError) {
        try indexing.use { (indexing) throws(AuditStoreError) in try indexing.run() }
    }

    public var freeBytes: Int? {
        var status = statvfs()
        guard statvfs(location.directory, &status) == 0 else { return nil }
        return Int(clamping: status.f_bavail.multipliedReportingOverflow(by: status.f_frsize).partialValue)
    }

    /// Waits for running operations. The last connection checkpoints and removes the write-ahead log: one file remains.
    public func close() {
        isMaintenanceClosed.use { isClosed in isClosed = true }
        indexing.use { indexing in indexing.isClosed = true }
        writerHandle.use { handle in handle.close() }
    }
}

extension SQLiteAuditStore {
    public static func readAll(at location: AuditLocation) throws(AuditStoreError) -> [any AuditReader] {
        [try read(at: location)]
    }

    public static func isOnThisMachine(_ location: AuditLocation) -> Bool { true }

    public static func exists(at location: AuditLocation) throws(AuditStoreError) -> Bool {
        try FileIdentity(LogLocation(location).path) != nil
    }

    /// Creates the database under a temporary name, and links it to its own name when it is complete.
    public static func create(at location: AuditLocation, identity: AuditIdentity) throws(AuditStoreError) {
        let location = try LogLocation(location)
        guard try FileIdentity(location.directory) != nil else {
            throw .unfit("The directory \(location.directory) for the audit log does not exist: create it first.")
        }
        guard try FileIdentity(location.path) == nil else {
            throw .unfit("The file \(location.path) already exists.")
        }
        let draft = try emptyFile(beside: location)
        defer { unlink(draft) }
        try AuditStoreError.at(location.path) { () throws(SQLiteError) in
            try LogSchema.create(in: Connection(path: draft, access: .readWrite), identity: identity)
        }
        // Unlike rename(2), link(2) never replaces a file.
        guard link(draft, location.path) == 0 else { throw failure("created", location) }
        let directory = Glibc.open(location.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("synchronized", location) }
        defer { Glibc.close(directory) }
        guard fsync(directory) == 0 else { throw failure("synchronized", location) }
    }

    /// mkstemp(3) creates the file with mode 0600, and SQLite gives the -wal and -shm files the same mode.
    private static func emptyFile(beside location: LogLocation) throws(AuditStoreError) -> String {
        var template = Array("\(location.path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure("created", location) }
        Glibc.close(descriptor)
        return template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    private static func failure(_ action: String, _ location: LogLocation) -> AuditStoreError {
        let error = errno
        let sentence = "The audit log \(location.path) could not be \(action): \(String(cString: strerror(error)))."
        return switch error {
        case ENOSPC, EDQUOT: .full(sentence)
        case EROFS, EACCES, EPERM: .readOnly(sentence)
        default: .failed(sentence)
        }
    }
}
