import CLibPQ
import Glibc

/// A connection to a server, for one thread at a time. It closes when its last reference is released.
///
/// Each call waits for the server up to `timeout`. After that, and after any error of the connection, `isUsable` is
/// false, and the owner opens another connection.
public final class Connection {
    private let handle: OpaquePointer
    /// The names of the prepared statements by their text.
    private var prepared: [String: String] = [:]
    private var preparations = 0
    private let notices = Notices()
    public private(set) var isUsable = true
    /// How long a call waits for the server.
    public var timeout: Duration
    /// The limit of all values of one result. A server that sends more loses the connection.
    public var longestResult = 1 << 30

    /// - Parameter parameters: libpq's keywords and values, in order: the last value of a keyword counts. The value of
    ///   `dbname` may be a URL (PostgreSQL documentation, section "Parameter Key Words").
    public init(_ parameters: [(keyword: String, value: String)], timeout: Duration) throws(PostgreSQLError) {
        self.timeout = timeout
        let opened = Self.withPointers(parameters.map(\.keyword)) { keywords in
            Self.withPointers(parameters.map(\.value)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let opened else { throw PostgreSQLError("There is no memory for a connection") }
        handle = opened
        PQsetNoticeReceiver(handle, { Notices.receive($0, $1) }, Unmanaged.passUnretained(notices).toOpaque())
        guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else { throw connectionError }
    }

    deinit { PQfinish(handle) }

    /// The server's last warning since this call was made last. It clears the warning.
    public func takeWarning() -> String? {
        defer { notices.warning = nil }
        return notices.warning
    }

    // MARK: Statements

    /// Runs one statement without parameters.
    ///
    /// - Returns: the command tag, such as `COMMIT`.
    @discardableResult
    public func execute(_ sql: String) throws(PostgreSQLError) -> String {
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        return try finish(before: deadline) { _ in true }.tag
    }

    /// Runs a statement, and visits its rows until `visit` returns false. The statement is prepared at its first use.
    ///
    /// - Returns: the number of rows that the statement inserted, changed, removed or selected.
    @discardableResult
    public func visit(
        _ sql: String, _ values: [BoundValue] = [], _ visit: (Row) -> Bool
    ) throws(PostgreSQLError) -> Int {
        let name = try prepare(sql, values)
        guard send(name, values), PQsetSingleRowMode(handle) == 1 else { throw lost() }
        return try finish(before: deadline, visit).count
    }

    /// Runs statements in one round trip (PostgreSQL documentation, "Pipeline Mode"). After a statement that fails, the
    /// server skips the rest.
    ///
    /// - Parameter visit: visits the rows of all statements.
    /// - Returns: for each statement, the number of rows that it inserted, changed, removed or selected.
    @discardableResult
    public func visit(
        _ statements: [Statement], _ visit: (Row) -> Bool
    ) throws(PostgreSQLError) -> [Int] {
        var names: [String] = []
        for statement in statements { names.append(try prepare(statement.sql, statement.values)) }
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        for (name, statement) in zip(names, statements) {
            guard send(name, statement.values) else { throw lost() }
        }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        let deadline = deadline
        var (counts, failure) = ([Int](), nil as PostgreSQLError?)
        for _ in statements {
            do throws(PostgreSQLError) {
                // libpq refuses it for a statement that the server skips.
                guard failure != nil || PQsetSingleRowMode(handle) == 1 else { throw lost() }
                counts.append(try finish(before: deadline, visit).count)
            } catch {
                guard isUsable else { throw error }
                failure = failure ?? error
            }
        }
        try endPipeline(before: deadline)
        if let failure { throw failure }
        return counts
    }

    /// Reads the answer to `PQpipelineSync`.
    private func endPipeline(before deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
        let result = try next(before: deadline)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_PIPELINE_SYNC, PQexitPipelineMode(handle) == 1 else { throw lost() }
    }

    /// Sends a prepared statement with its values.
    ///
    /// - Returns: whether libpq took it.
    private func send(_ name: String, _ values: [BoundValue]) -> Bool {
        let encoded = values.map(\.encoded)
        let lengths = encoded.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: values.count)
        // One buffer for all values, so that their addresses stay valid together.
        let buffer = encoded.compactMap(\.self).flatMap(\.self) + [0]
        return buffer.withUnsafeBytes { bytes in
            var offset = 0
            let addresses = encoded.map { value -> UnsafePointer<CChar>? in
                guard let value else { return nil }
                defer { offset += value.count }
                return bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(handle, name, Int32(values.count), addresses, lengths, formats, 1) == 1
        }
    }

    @discardableResult
    public func run(_ sql: String, _ values: BoundValue...) throws(PostgreSQLError) -> Int {
        try visit(sql, values) { _ in true }
    }

    private func prepare(_ sql: String, _ values: [BoundValue]) throws(PostgreSQLError) -> String {
        if let name = prepared[sql] { return name }
        // Never a name of a statement whose preparation failed: the server may know it.
        preparations += 1
        let name = "privyseal_\(preparations)"
        guard PQsendPrepare(handle, name, sql, Int32(values.count), values.map(\.type)) == 1 else { throw lost() }
        _ = try finish(before: deadline) { _ in true }
        prepared[sql] = name
        return name
    }

    // MARK: Results

    private var deadline: ContinuousClock.Instant { .now + timeout }

    /// Reads all results of a statement.
    private func finish(
        before deadline: ContinuousClock.Instant, _ visit: (Row) -> Bool
    ) throws(PostgreSQLError) -> (tag: String, count: Int) {
        var (outcome, failure) = (nil as (tag: String, count: Int)?, nil as PostgreSQLError?)
        var (isVisiting, rest) = (true, longestResult)
        while let result = try next(before: deadline) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_SINGLE_TUPLE:
                let row = Row(result: result)
                rest -= row.byteCount + 64
                guard rest >= 0 else { throw lost("The result of a statement is longer than \(longestResult) bytes") }
                if isVisiting { isVisiting = visit(row) }
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                guard outcome == nil else { throw lost("The server sent a second result") }
                outcome = (String(cString: PQcmdStatus(result)), Int(String(cString: PQcmdTuples(result))) ?? 0)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: throw lost("The server asked for a copy")
            default: failure = failure ?? PostgreSQLError(result)
            }
        }
        if PQstatus(handle) != CONNECTION_OK { isUsable = false }
        if let failure { throw failure }
        return outcome ?? ("", 0)
    }

    /// - Returns: nil after the last result of the statement.
    private func next(before deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> OpaquePointer? {
        while true {
            let rest = deadline - .now
            guard rest > .zero else { throw lost("The server did not answer within \(timeout.components.seconds) s") }
            let isSending = PQflush(handle)
            guard isSending >= 0 else { throw lost() }
            // Before it reads more: libpq moves what it has not parsed yet at each read.
            if isSending == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
            // With TLS, libpq may have read a part of what OpenSSL holds: read twice.
            guard PQconsumeInput(handle) == 1, PQconsumeInput(handle) == 1 else { throw lost() }
            if isSending == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
            wait(for: isSending == 0 ? POLLIN : POLLIN | POLLOUT, atMost: rest)
        }
    }

    private func wait(for events: Int32, atMost rest: Duration) {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        let (seconds, attoseconds) = rest.components
        _ = poll(&descriptor, 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    private func lost(_ message: String? = nil) -> PostgreSQLError {
        isUsable = false
        return message.map { PostgreSQLError($0) } ?? connectionError
    }

    private var connectionError: PostgreSQLError { PostgreSQLError(String(cString: PQerrorMessage(handle))) }

    /// Passes an array of C strings that ends with a null pointer.
    private static func withPointers<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer {
            for copy in copies {
                if let copy { explicit_bzero(copy, strlen(copy)) }
                free(copy)
            }
        }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }
}

/// Keeps warnings; libpq would print them.
private final class Notices {
    var warning: String?

    static func receive(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
        guard let context, let severity = PQresultErrorField(result, privyseal_pg_severity),
            String(cString: severity) == "WARNING"
        else { return }
        Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue().warning = PostgreSQLError(result).message
    }
}
