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
    /// The files of the last write.
    private var files: LogFiles
    private var isClosed = false

    init(writer: Writer, shared: SharedWriterState) {
        self.writer = writer
        files = writer.files
        self.shared = shared
    }

    mutating func close() {
        isClosed = true
        writer = nil
    }

    /// The writer for the file that is at the path now.
    mutating func ready(
        for identity: AuditIdentity, at path: String, timeout: Duration
    ) throws(AuditStoreError) -> Writer {
        guard !isClosed else { throw .closed }
        switch try change() {
        case .none?: if let writer { return writer }
        case .readOnly(let path)?: throw LogFiles.readOnly(path)
        // The writer stays open, because the file may return.
        case .databaseGone?: throw LogFiles.gone(path)
        case .logCutOff?: if let writer { throw writer.files.cutOff }
        case .companionReplaced?: try writer?.checkpointRemovedLog()
        case .databaseReplaced?, nil: break
        }
        if let writer, writer.isAccepted { files = writer.files }
        // Release the old writer first, with every reference to it: SQLite shares the WAL index within the process.
        writer = nil
        return try reopen(for: identity, at: path, timeout: timeout)
    }

    /// Nil if there is no writer, or only an unreliable one.
    private func change() throws(AuditStoreError) -> LogFiles.Change? {
        guard let writer, !writer.isUnreliable else { return nil }
        return try writer.change()
    }

    private mutating func reopen(
        for identity: AuditIdentity, at path: String, timeout: Duration
    ) throws(AuditStoreError) -> Writer {
        try files.checkPair()
        let opened: Writer
        do throws(AuditStoreError) {
            opened = try Writer(at: path, timeout: timeout)
            try opened.checkWhole()
        } catch {
            guard case .unfit(let sentence) = error else { throw error }
            throw .replaced(sentence)
        }
        guard opened.identity == identity else {
            throw .replaced(
                "\(path) is the audit log of \(opened.identity.origin), not of \(identity.origin).")
        }
        shared.replace(with: opened)
        writer = opened
        return opened
    }
}
