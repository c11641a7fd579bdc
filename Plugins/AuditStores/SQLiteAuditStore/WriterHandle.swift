import AuditKit
import SQLite
import Synchronization

/// The state of the writer that maintenance needs, without waiting for the writer.
final class SharedWriterState: Sendable {
    private let state: Mutex<(files: LogFiles, log: WriteAheadLog)>

    init(_ writer: Writer) {
        state = Mutex((writer.files, writer.log))
    }

    func replace(with writer: Writer) {
        let state = (files: writer.files, log: writer.log)
        self.state.withLock { $0 = state }
    }

    var current: (files: LogFiles, log: WriteAheadLog) { state.withLock { $0 } }

    /// A connection for other work. Each use opens a new one, so that it is always on the writer's file.
    func connect(to path: String) throws(AuditStoreError) -> LogTables {
        let files = current.files
        try files.checkInPlace()
        let tables = try Writer.connect(to: path, timeout: .zero)
        try Durability.require(of: tables)
        try files.checkInPlace()
        guard !tables.connection.hasMoved else { throw .replaced("The audit log \(path) was moved.") }
        return tables
    }
}

/// Holds the writer, and replaces it when the files change.
struct WriterHandle {
    private var writer: Writer?
    private let shared: SharedWriterState
    private let identity: AuditIdentity
    private let timeout: Duration
    /// The files of the last write.
    private var files: LogFiles
    private var isClosed = false

    init(writer: Writer, shared: SharedWriterState, timeout: Duration) {
        self.writer = writer
        self.shared = shared
        self.timeout = timeout
        identity = writer.identity
        files = writer.files
    }

    mutating func close() {
        isClosed = true
        writer = nil
    }

    /// The writer for the file that is at the path now.
    mutating func ready() throws(AuditStoreError) -> Writer {
        guard !isClosed else { throw .closed }
        if let writer, !writer.isUnreliable {
            switch try writer.files.change() {
            case .none:
                try writer.requireWhole()
                return writer
            case .readOnly(let path): throw LogFiles.readOnly(path)
            // The writer stays open, because the file may return.
            case .databaseGone: throw LogFiles.gone(files.path)
            case .companionReplaced: try writer.checkpointRemovedLog()
            case .databaseReplaced: break
            }
        }
        if let writer, writer.isAccepted { files = writer.files }
        // Release the old writer first, with every reference to it: SQLite shares the WAL index within the process.
        writer = nil
        return try reopen()
    }

    private mutating func reopen() throws(AuditStoreError) -> Writer {
        try files.checkPair()
        let opened: Writer
        do throws(AuditStoreError) {
            opened = try Writer(at: files.path, timeout: timeout)
            try opened.checkWhole()
        } catch {
            guard case .unfit(let sentence) = error else { throw error }
            throw .replaced(sentence)
        }
        guard opened.identity == identity else {
            throw .replaced(
                "\(files.path) is the audit log of \(opened.identity.origin), not of \(identity.origin).")
        }
        shared.replace(with: opened)
        writer = opened
        return opened
    }
}
