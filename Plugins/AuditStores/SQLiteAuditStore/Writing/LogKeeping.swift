import AuditKit
import SQLite

/// Copies the write-ahead log beside the writer; see `LogCopying`.
struct LogKeeping {
    private let location: LogLocation
    private let shared: SharedWriterState
    private var isClosed = false

    init(location: LogLocation, shared: SharedWriterState) {
        self.location = location
        self.shared = shared
    }

    mutating func close() { isClosed = true }

    mutating func run() throws(AuditStoreError) {
        guard !isClosed else { throw .closed }
        let copying = shared.current.copying
        guard copying.isWanted else { return try shared.current.files.checkInPlace() }
        let connection = try shared.connect(to: location.path)
        try AuditStoreError.at(location.path) { () throws(SQLiteError) in try copying.copy(on: connection) }
    }
}
