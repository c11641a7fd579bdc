public import AuditKit
import PostgreSQL
import SigningKit

/// An audit log in a PostgreSQL database, beside those of other gateways. See README.md in this folder.
public final class PostgreSQLAuditStore: AuditStore {
    static let scheme = "postgresql"
    /// The store refuses the second one with a sentence that names the first.
    public static let schemes = [scheme, "postgres"]

    public let identity: AuditIdentity
    private let writer: Exclusive<WriterHandle>
    private let watch: Exclusive<LogWatch>
    private let indexing: Exclusive<LogIndexing>
    private let location: DatabaseLocation
    private let claim: EpochClaim?

    private init(_ writer: LogWriter, at location: DatabaseLocation, _ claim: EpochClaim?, timeout: Duration) {
        identity = writer.database.identity
        var location = location
        location.origin = identity.origin
        (self.location, self.claim) = (location, claim)
        self.writer = Exclusive(WriterHandle(writer, at: location, claim, timeout: timeout))
        watch = Exclusive(LogWatch(location: location, claim))
        indexing = Exclusive(LogIndexing(location: location))
    }

    /// - Parameter role: a gateway takes over the log with its first transaction.
    public static func open(
        at location: AuditLocation, as role: AuditRole, timeout: Duration
    ) throws(AuditStoreError) -> PostgreSQLAuditStore {
        let location = try DatabaseLocation(location)
        let claim = role == .gateway ? EpochClaim() : nil
        return PostgreSQLAuditStore(
            try LogWriter(location, claim, timeout: timeout), at: location, claim, timeout: timeout)
    }

    public static func read(at location: AuditLocation) throws(AuditStoreError) -> any AuditReader {
        try PostgreSQLAuditReader(at: DatabaseLocation(location))
    }

    public static func exists(at location: AuditLocation) throws(AuditStoreError) -> Bool {
        let location = try DatabaseLocation(location)
        return try !LogDatabase.logs(in: location.connect(for: .readWrite(timeout: .seconds(5))), at: location).isEmpty
    }

    /// The readers share one connection.
    public static func readAll(at location: AuditLocation) throws(AuditStoreError) -> [any AuditReader] {
        var location = try DatabaseLocation(location)
        location.origin = nil
        let connection = try location.connect(for: .readOnly)
        return try LogDatabase.logs(in: connection, at: location).map { log throws(AuditStoreError) in
            PostgreSQLAuditReader(try LogDatabase(connection, log, at: location))
        }
    }

    public static func isOnThisMachine(_ location: AuditLocation) -> Bool {
        (try? DatabaseLocation(location))?.isLocal ?? false
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
        try writer.use { (handle) throws(AuditStoreError) in try handle.write(body) }
    }

    /// Throws if the database cannot be reached, or another gateway has taken over the log.
    public func maintain() throws(AuditStoreError) {
        try watch.use { (watch) throws(AuditStoreError) in try watch.check() }
    }

    public func index() throws(AuditStoreError) {
        try indexing.use { (indexing) throws(AuditStoreError) in try indexing.run() }
    }

    public func membership(in fleet: String) throws(AuditStoreError) -> any FleetMembership {
        guard let claim else { throw .unfit("Only a gateway is a member of a fleet.") }
        return PostgreSQLFleetMembership(location, claim, fleet: fleet)
    }

    /// The server's disk is not this machine's.
    public var freeBytes: Int? { nil }

    public func close() {
        watch.use { watch in watch.close() }
        indexing.use { indexing in indexing.close() }
        writer.use { handle in handle.close() }
    }
}

/// Holds the writer, and connects again after an error of the connection.
struct WriterHandle {
    private var writer: LogWriter?
    private let location: DatabaseLocation
    private let claim: EpochClaim?
    private let timeout: Duration
    /// Why this process must not write any more.
    private var end: AuditStoreError?

    init(_ writer: LogWriter, at location: DatabaseLocation, _ claim: EpochClaim?, timeout: Duration) {
        self.writer = writer
        self.location = location
        self.claim = claim
        self.timeout = timeout
    }

    mutating func close() {
        end = .closed
        writer = nil
    }

    mutating func write<Outcome>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        do throws(AuditStoreError) {
            return try ready().write(body)
        } catch {
            // A fenced gateway does not lock the row of the log again, which another gateway needs.
            if case .fenced = error { (end, writer) = (error, nil) }
            throw error
        }
    }

    private mutating func ready() throws(AuditStoreError) -> LogWriter {
        if let end { throw end }
        if let writer, writer.isUsable { return writer }
        writer = nil
        let opened = try LogWriter(location, claim, timeout: timeout)
        writer = opened
        return opened
    }
}

/// Reads the row of the log at intervals, so that a gateway without requests notices a lost database, too.
struct LogWatch {
    private static let interval = Duration.seconds(1)

    private let location: DatabaseLocation
    private let claim: EpochClaim?
    private var database: LogDatabase?
    private var last: ContinuousClock.Instant?
    private var isClosed = false

    init(location: DatabaseLocation, _ claim: EpochClaim?) {
        self.location = location
        self.claim = claim
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    mutating func check() throws(AuditStoreError) {
        guard !isClosed else { throw .closed }
        guard last.map({ .now - $0 >= Self.interval }) ?? true else { return }
        last = .now
        let database =
            if let database, database.connection.isUsable { database } else {
                // A standby may be behind.
                try LogDatabase(location, for: .readWrite(timeout: Self.interval))
            }
        self.database = database
        let epochs = try database.all("SELECT epoch FROM privyseal.log WHERE id = $1", .integer(database.log)) {
            $0.integer(0)
        }
        guard let epoch = epochs.first else { throw .missing("The audit log in \(location.name) is gone.") }
        try claim?.check(epoch, in: location.name, database.identity)
    }
}
