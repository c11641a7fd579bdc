import AuditKit
import PostgreSQL

/// Reads a log, from the server or from a standby of it.
final class PostgreSQLAuditReader: AuditReader, SearchableLog {
    /// A count over a long log takes time.
    private static let answerLimit = Duration.seconds(120)

    let identity: AuditIdentity
    private let location: DatabaseLocation
    private var database: LogDatabase?
    private var isClosed = false

    convenience init(at location: DatabaseLocation) throws(AuditStoreError) {
        self.init(try LogDatabase(location, for: .readOnly))
    }

    init(_ database: LogDatabase) {
        database.connection.timeout = Self.answerLimit
        identity = database.identity
        var location = database.location
        location.origin = identity.origin
        self.location = location
        self.database = database
    }

    func close() {
        isClosed = true
        database = nil
    }

    /// Connects again after an error of the connection.
    private func current() throws(AuditStoreError) -> LogDatabase {
        guard !isClosed else { throw .closed }
        if let database, database.connection.isUsable { return database }
        let opened = try LogDatabase(location, for: .readOnly)
        opened.connection.timeout = Self.answerLimit
        database = opened
        return opened
    }

    // MARK: AuditReader

    func head() throws(AuditStoreError) -> SignedTreeHead? { try current().head() }

    func firstIndex() throws(AuditStoreError) -> Int { try current().firstIndex() }

    func storedEnd() throws(AuditStoreError) -> Int { try current().end() }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { try current().segmentRoots() }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] { try current().checkpoints() }

    func registers() throws(AuditStoreError) -> [AuditRegister] { try current().registers() }

    func inspect() throws(AuditStoreError) -> [String] { try current().faults() }

    func obstacleToMoving() throws(AuditStoreError) -> String? {
        let database = try current()
        func names(_ sql: String) throws(AuditStoreError) -> String? {
            let names = try database.all(sql, .integer(database.log)) { $0.text(0) }
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }
        if let gateways = try names(
            """
            SELECT l.origin FROM privyseal.member m JOIN privyseal.log l ON l.id = m.log
            WHERE m.fleet = $1 ORDER BY l.origin COLLATE "C"
            """)
        {
            return "is the log of a fleet (\(gateways))"
        }
        let fleet = try names(
            """
            SELECT l.origin FROM privyseal.member m JOIN privyseal.log l ON l.id = m.fleet
            WHERE m.log = $1 AND m.gone = 0
            """)
        return fleet.map { "is the log of a gateway of the fleet \($0)" }
    }

    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError) {
        try current().visit(range, visit)
    }

    func batch(of range: Range<Int>, isLatestFirst: Bool, limit: Int) throws(AuditStoreError) -> [StoredEntry] {
        try current().batch(of: range, isLatestFirst: isLatestFirst, limit: limit)
    }

    func entries(at indexes: [Int]) throws(AuditStoreError) -> [StoredEntry] { try current().entries(at: indexes) }

    func segmentIndex() throws(AuditStoreError) -> (any SegmentIndex)? {
        let database = try current()
        return try LogIndex(database, roots: database.segmentRoots())
    }
}
