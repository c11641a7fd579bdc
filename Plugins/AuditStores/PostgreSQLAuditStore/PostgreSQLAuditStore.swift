public import AuditKit
import PostgreSQL

/// An audit log in a PostgreSQL database, beside those of other gateways. See README.md in this folder.
public final class PostgreSQLAuditStore: AuditStore {
    public static let scheme = "postgresql"

    public let identity: AuditIdentity
    private let writer: Exclusive<WriterHandle>
    private let watch: Exclusive<LogWatch>
    private let indexing: Exclusive<LogIndexing>

    private init(_ writer: LogWriter, at location: DatabaseLocation, as role: AuditRole, timeout: Duration) {
        identity = writer.identity
        var location = location
        location.origin = writer.identity.origin
        self.writer = Exclusive(WriterHandle(writer, at: location, as: role, timeout: timeout))
        watch = Exclusive(LogWatch(location: location, epoch: writer.claimedEpoch))
        indexing = Exclusive(LogIndexing(location: location))
    }

    public static func open(
        at location: AuditLocation, as role: AuditRole, timeout: Duration
    ) throws(AuditStoreError) -> PostgreSQLAuditStore {
        let location = try DatabaseLocation(location)
        let writer = try LogWriter(location, as: role, epoch: nil, timeout: timeout)
        return PostgreSQLAuditStore(writer, at: location, as: role, timeout: timeout)
    }

    public static func read(at location: AuditLocation) throws(AuditStoreError) -> any AuditReader {
        try PostgreSQLAuditReader(at: DatabaseLocation(location))
    }

    public static func exists(at location: AuditLocation) throws(AuditStoreError) -> Bool {
        let location = try DatabaseLocation(location)
        return try !LogDatabase.logs(in: location.connect(for: .readWrite(timeout: .seconds(5))), at: location).isEmpty
    }

    public static func origins(at location: AuditLocation) throws(AuditStoreError) -> [String] {
        var location = try DatabaseLocation(location)
        location.origin = nil
        return try LogDatabase.logs(in: location.connect(for: .readOnly), at: location).map(\.identity.origin)
    }

    /// Creates the tables, too, unless the database has them.
    public static func create(at location: AuditLocation, identity: AuditIdentity) throws(AuditStoreError) {
        var location = try DatabaseLocation(location)
        location.origin = identity.origin
        let connection = try location.connect(for: .readWrite(timeout: .seconds(5)))
        do throws(PostgreSQLError) {
            try ServerDurability.require(in: connection)
            try connection.execute("BEGIN")
            try LogSchema.create(in: connection)
            try connection.run(
                """
                INSERT INTO privyseal.log (origin, format, first_segment, epoch, size, note)
                VALUES ($1, $2, 0, 0, 0, '')
                """, .text(identity.origin), .integer(identity.formatVersion))
            try connection.execute("COMMIT")
        } catch {
            switch error.code {
            case "23505": throw .unfit("The database \(location.name) already has a log of \(identity.origin).")
            case "42501":
                throw .unfit(
                    "The user may not create the tables of the audit log in \(location.name): \(error). Create them as "
                        + "the database's owner, or grant CREATE on the database.")
            default: throw location.failure(error)
            }
        }
    }

    public func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try writer.use { (handle) throws(AuditStoreError) in try handle.ready().write(body) }
    }

    /// Throws if the database cannot be reached, or another gateway has taken over the log.
    public func maintain() throws(AuditStoreError) {
        try watch.use { (watch) throws(AuditStoreError) in try watch.look() }
    }

    public func index() throws(AuditStoreError) {
        try indexing.use { (indexing) throws(AuditStoreError) in try indexing.run() }
    }

    /// The server's disk is not this machine's.
    public var freeBytes: Int? { nil }

    public func close() {
        try? watch.use { (watch) throws(AuditStoreError) in watch.close() }
        try? indexing.use { (indexing) throws(AuditStoreError) in indexing.close() }
        try? writer.use { (handle) throws(AuditStoreError) in handle.close() }
    }
}

/// Holds the writer, and connects again after an error of the connection.
struct WriterHandle {
    private var writer: LogWriter?
    private let location: DatabaseLocation
    private let role: AuditRole
    /// Claimed once: a new connection of a gateway that was fenced must not take the log back.
    private let epoch: Int?
    private let timeout: Duration
    private var isClosed = false

    init(_ writer: LogWriter, at location: DatabaseLocation, as role: AuditRole, timeout: Duration) {
        self.writer = writer
        self.location = location
        self.role = role
        self.timeout = timeout
        epoch = writer.claimedEpoch
    }

    mutating func close() {
        isClosed = true
        writer = nil
    }

    mutating func ready() throws(AuditStoreError) -> LogWriter {
        guard !isClosed else { throw .closed }
        if let writer, writer.isUsable { return writer }
        writer = nil
        let opened = try LogWriter(location, as: role, epoch: epoch, timeout: timeout)
        writer = opened
        return opened
    }
}

/// Looks at the row of the log at intervals, so that a gateway without requests notices a lost database, too.
struct LogWatch {
    private static let interval = Duration.seconds(1)

    let location: DatabaseLocation
    /// Nil for a command.
    let epoch: Int?
    private var database: LogDatabase?
    private var last: ContinuousClock.Instant?
    private var isClosed = false

    init(location: DatabaseLocation, epoch: Int?) {
        self.location = location
        self.epoch = epoch
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    mutating func look() throws(AuditStoreError) {
        guard !isClosed else { throw .closed }
        guard last.map({ .now - $0 >= Self.interval }) ?? true else { return }
        last = .now
        let database =
            if let database, database.connection.isUsable { database } else {
                // A standby may be behind.
                try LogDatabase(location, for: .readWrite(timeout: Self.interval))
            }
        self.database = database
        let found = try database.number("SELECT epoch FROM privyseal.log WHERE id = $1")
        guard epoch == nil || found == epoch else {
            throw .fenced("Another gateway has taken over the audit log \(database.identity.origin).")
        }
    }
}
