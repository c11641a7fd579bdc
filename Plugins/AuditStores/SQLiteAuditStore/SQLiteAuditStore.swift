public import AuditKit
import Glibc
import SQLite
import Synchronization

/// An audit log in a file of SQLite. See README.md beside this file.
public final class SQLiteAuditStore: AuditStore {
    public static let scheme = "sqlite"

    public let identity: AuditIdentity
    let location: LogLocation
    private let patience: Duration
    private let slot: Exclusive<WriterSlot>
    private let keeping: Exclusive<LogKeeping>
    private let indexing: Exclusive<Indexing>

    private init(_ writer: Writer, at location: LogLocation, patience: Duration) {
        identity = writer.identity
        self.location = location
        self.patience = patience
        let shared = SharedWriterState(writer)
        slot = Exclusive(WriterSlot(writer: writer, shared: shared))
        keeping = Exclusive(LogKeeping(location: location, shared: shared))
        indexing = Exclusive(Indexing(location: location, identity: writer.identity, shared: shared))
    }

    public static func open(at location: String, patience: Duration) throws(AuditStoreError) -> SQLiteAuditStore {
        let location = try LogLocation(location)
        return SQLiteAuditStore(
            try Writer(at: location.path, patience: patience), at: location, patience: patience)
    }

    public static func read(at location: String) throws(AuditStoreError) -> any AuditReader {
        try SQLiteAuditReader(at: LogLocation(location))
    }

    public func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try slot.use { (slot) throws(AuditStoreError) in
            let writer = try slot.ready(for: identity, at: location.path, patience: patience)
            return try writer.write(body)
        }
    }

    public func maintain() throws(AuditStoreError) {
        try keeping.use { (keeping) throws(AuditStoreError) in try keeping.run() }
    }

    public func index() throws(AuditStoreError) {
        try indexing.use { (indexing) throws(AuditStoreError) in try indexing.run() }
    }

    public var freeBytes: Int? {
        var status = statvfs()
        guard statvfs(location.directory, &status) == 0 else { return nil }
        return Int(clamping: status.f_bavail.multipliedReportingOverflow(by: status.f_frsize).partialValue)
    }

    /// Waits for whatever is going on. The last connection copies the write-ahead log into the
    /// database and removes it: what is left is one file.
    public func close() {
        try? keeping.use { (keeping) throws(AuditStoreError) in keeping.close() }
        try? indexing.use { (indexing) throws(AuditStoreError) in indexing.close() }
        try? slot.use { (slot) throws(AuditStoreError) in slot.close() }
    }

    /// For tests.
    func withWriter<Outcome>(
        _ body: (Writer) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try slot.use { (slot) throws(AuditStoreError) in
            try body(slot.ready(for: identity, at: location.path, patience: patience))
        }
    }
}
