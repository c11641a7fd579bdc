import AuditKit
import SQLite
import Synchronization

/// What maintenance has to know of the writer, without waiting for it.
final class SharedWriterState: Sendable {
    private let state: Mutex<(files: LogFiles, copying: LogCopying)>

    init(_ writer: Writer) {
        state = Mutex((writer.files, writer.copying))
    }

    func replace(with writer: Writer) {
        let state = (files: writer.files, copying: writer.copying)
        self.state.withLock { $0 = state }
    }

    var current: (files: LogFiles, copying: LogCopying) { state.withLock { $0 } }

    /// A connection for other work. Opened for each time, so that it can be on no file but the writer's.
    func connect(to path: String) throws(AuditStoreError) -> Connection {
        let files = current.files
        try files.checkInPlace()
        let connection = try Writer.connect(to: path, patience: .zero)
        try Writer.makeDurable(connection, at: path)
        try files.checkInPlace()
        guard !connection.hasMoved else { throw .replaced("The audit log \(path) was moved.") }
        return connection
    }
}

/// The place of the writer, which is another one when the files are.
struct WriterSlot {
    private var writer: Writer?
    private let shared: SharedWriterState
    /// The files that were written to last.
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

    /// The writer of the file that is at the path now.
    mutating func ready(
        for identity: AuditIdentity, at path: String, patience: Duration
    ) throws(AuditStoreError) -> Writer {
        guard !isClosed else { throw .closed }
        switch try change() {
        case .none?: if let writer { return writer }
        case .readOnly(let path)?: throw LogFiles.readOnly(path)
        // It stays open: the file may come back.
        case .databaseGone?: throw LogFiles.gone(path)
        case .logCutOff?: if let writer { throw writer.files.cutOff }
        case .companionReplaced?: try writer?.rescueLog()
        case .databaseReplaced?, nil: break
        }
        if let writer, writer.isAccepted { files = writer.files }
        // The one before goes first, and nothing may refer to it: SQLite shares the index of the write-ahead log within the
        // process.
        writer = nil
        return try reopen(for: identity, at: path, patience: patience)
    }

    /// Nil when there is no writer, or none that can be relied on.
    private func change() throws(AuditStoreError) -> LogFiles.Change? {
        guard let writer, !writer.isSpoiled else { return nil }
        return try writer.change()
    }

    private mutating func reopen(
        for identity: AuditIdentity, at path: String, patience: Duration
    ) throws(AuditStoreError) -> Writer {
        try files.checkPair()
        let opened: Writer
        do throws(AuditStoreError) {
            opened = try Writer(at: path, patience: patience)
            try opened.checkWhole()
        } catch {
            guard case .unfit(let sentence) = error else { throw error }
            throw .replaced(sentence)
        }
        guard opened.identity == identity else {
            throw .replaced(
                "At \(path) there is the audit log of \(opened.identity.origin) instead of \(identity.origin).")
        }
        shared.replace(with: opened)
        writer = opened
        return opened
    }
}
