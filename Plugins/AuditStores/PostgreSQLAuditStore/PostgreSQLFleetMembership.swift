import AuditKit
import PostgreSQL
import SigningKit
import Synchronization

/// The lease of a gateway in the table `member`, on a connection of its own.
final class PostgreSQLFleetMembership: FleetMembership {
    private struct State {
        var database: LogDatabase?
        /// The number of the fleet's log.
        var fleet = 0
        var hasJoined = false
        var isClosed = false
        var last: (report: FleetReport, time: ContinuousClock.Instant)?
    }

    /// Between two renewals with the same report.
    private static let interval = Duration.seconds(1)
    private static let answerLimit = Duration.seconds(5)
    private static let mostMembers = 1000
    /// From 1970 to 9999, in milliseconds.
    private static let times = 0..<253_402_300_800_000
    /// Milliseconds since 1970.
    private static let time = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    private let location: DatabaseLocation
    private let claim: EpochClaim
    private let fleet: String
    private let state = Exclusive(State())
    /// The connection for shared values: none of them may hold the lease up.
    private let sharing = Exclusive(State())

    /// - Parameter location: with the origin of the gateway's log.
    init(_ location: DatabaseLocation, _ claim: EpochClaim, fleet: String) {
        self.location = location
        self.claim = claim
        self.fleet = fleet
    }

    func close() {
        for connection in [state, sharing] {
            connection.use { state in
                state = State()
                state.isClosed = true
            }
        }
    }

    func renew(_ report: FleetReport) throws(AuditStoreError) -> FleetView {
        try state.use { (state) throws(AuditStoreError) in
            let database = try connect(&state)
            if state.last.map({ $0.report != report || .now - $0.time >= Self.interval }) ?? true {
                let begun = ContinuousClock.now
                try write(report, &state, in: database)
                state.last = (report, begun)
            }
            return try view(of: state.fleet, in: database)
        }
    }

    private func write(_ report: FleetReport, _ state: inout State, in database: LogDatabase) throws(AuditStoreError) {
        guard let epoch = claim.epoch else { throw .failed("This gateway has not written to its log yet.") }
        // The first statement of this process acquires the lease. A renewal must not: another process may have it.
        let sql =
            state.hasJoined
            ? """
            UPDATE privyseal.member SET renewed = \(Self.time), applied = $4, answer = $5
            WHERE log = $1 AND epoch = $2 AND fleet = $3 AND gone = 0
            AND EXISTS (SELECT 1 FROM privyseal.log WHERE id = $1 AND epoch = $2)
            """
            : """
            INSERT INTO privyseal.member
            SELECT $1, $3, $2, \(Self.time), 0, $4, $5 FROM privyseal.log WHERE id = $1 AND epoch = $2
            ON CONFLICT (log) DO UPDATE SET fleet = excluded.fleet, epoch = excluded.epoch,
            renewed = excluded.renewed, gone = 0, applied = excluded.applied, answer = excluded.answer
            WHERE privyseal.member.epoch <= excluded.epoch
            """
        let count = try database.run(
            sql, .integer(database.log), .integer(epoch), .integer(state.fleet), .integer(report.applied),
            .text(report.answer))
        guard count == 1 else {
            throw .fenced(
                "The gateway \(database.identity.origin) is no longer a member of the fleet \(fleet): another process "
                    + "has taken over its log, or an administrator fenced it. Start it again if it should go on.")
        }
        state.hasJoined = true
    }

    private func view(of number: Int, in database: LogDatabase) throws(AuditStoreError) -> FleetView {
        let asked = ContinuousClock.now
        var (time, size) = (0, 0)
        let members = try database.all(
            """
            SELECT f.size, \(Self.time), l.origin, m.epoch, m.renewed, m.gone, m.applied, left(m.answer, 4096)
            FROM privyseal.log f JOIN privyseal.member m ON m.fleet = f.id JOIN privyseal.log l ON l.id = m.log
            WHERE f.id = $1 AND (m.log = $2 OR m.renewed > \(Self.time) - 86400000) ORDER BY l.origin COLLATE "C" LIMIT \(Self.mostMembers + 1)
            """, .integer(number), .integer(database.log)
        ) { row in
            (time, size) = (row.integer(1), row.integer(0))
            return FleetMember(
                origin: row.text(2), epoch: row.integer(3), renewed: Timestamp(milliseconds: Int64(row.integer(4))),
                isGone: row.integer(5) != 0, report: FleetReport(applied: row.integer(6), answer: row.text(7)))
        }
        guard !members.isEmpty, members.count <= Self.mostMembers, (0..<Int.max).contains(size),
            Self.times.contains(time), members.allSatisfy({ Self.times.contains(Int($0.renewed.milliseconds)) })
        else {
            throw .damaged(
                "\(location.name) has \(members.count) gateways of the fleet \(fleet), or impossible times of them.")
        }
        return FleetView(
            time: Timestamp(milliseconds: Int64(time)), asked: asked, answered: .now, size: size, members: members)
    }

    func update(
        _ name: String, _ change: ([UInt8]?, Timestamp) -> [UInt8]
    ) throws(AuditStoreError) {
        try sharing.use { (state) throws(AuditStoreError) in
            let isNew = state.database?.connection.isUsable != true
            // Requests wait for it.
            let database = try connect(&state, timeout: .milliseconds(500), answerLimit: .seconds(1))
            if isNew {
                // The others see it at once; only a crash of the server may lose it.
                try database.execute("SET synchronous_commit = off")
            }
            do throws(AuditStoreError) {
                let rows = try database.begin(
                    Statement(
                        "INSERT INTO privyseal.shared VALUES ($1, $2, NULL) ON CONFLICT DO NOTHING",
                        .integer(state.fleet), .text(name)),
                    Statement(
                        """
                        SELECT substring(value FROM 1 FOR \(Self.longestValue)), \(Self.time) FROM privyseal.shared
                        WHERE fleet = $1 AND name = $2 FOR UPDATE
                        """, .integer(state.fleet), .text(name))
                ) { ($0.isNull(0) ? nil : $0.bytes(0), $0.integer(1)) }
                guard let row = rows.first, Self.times.contains(row.1) else {
                    throw .damaged(
                        "\(location.name) has lost a shared value of the fleet \(fleet), or has an impossible time.")
                }
                let value = change(row.0, Timestamp(milliseconds: Int64(row.1)))
                let counts = try database.run([
                    Statement(
                        "UPDATE privyseal.shared SET value = $3 WHERE fleet = $1 AND name = $2", .integer(state.fleet),
                        .text(name), .bytes(value)),
                    Statement("COMMIT"),
                ])
                try database.requireStored(counts.first ?? 0, of: 1)
            } catch {
                if database.connection.isUsable { _ = try? database.connection.execute("ROLLBACK") }
                throw error
            }
        }
    }

    /// In bytes.
    private static let longestValue = 64 << 10

    func leave() throws(AuditStoreError) {
        try state.use { (state) throws(AuditStoreError) in
            guard state.hasJoined, let epoch = claim.epoch else { return }
            let database = try connect(&state)
            try database.run(
                "UPDATE privyseal.member SET gone = 1 WHERE log = $1 AND epoch = $2", .integer(database.log),
                .integer(epoch))
        }
    }

    /// On a connection of its own: a process that was stopped in a transaction holds the row of its log until the server
    /// ends its session, see `DatabaseLocation`. The lease must be renewed meanwhile.
    func fence(_ origin: String, epoch: Int) throws(AuditStoreError) {
        let database = try LogDatabase(location, for: .readWrite(timeout: .seconds(15)))
        try database.requireDurability()
        try database.run(
            """
            WITH fenced AS (
                UPDATE privyseal.log SET epoch = epoch + 1 WHERE origin = $1 AND epoch = $2 RETURNING id
            )
            UPDATE privyseal.member SET gone = 1 WHERE log = (SELECT id FROM fenced) AND epoch = $2
            """, .text(origin), .integer(epoch))
    }

    /// Connects again after an error of the connection. A server that answers no more must not hold the gateway up.
    private func connect(
        _ state: inout State, timeout: Duration = .seconds(2), answerLimit: Duration = answerLimit
    ) throws(AuditStoreError) -> LogDatabase {
        guard !state.isClosed else { throw .closed }
        if let database = state.database, database.connection.isUsable { return database }
        let database = try LogDatabase(location, for: .readWrite(timeout: timeout))
        database.connection.timeout = answerLimit
        try database.requireDurability()
        let found = try database.all("SELECT id FROM privyseal.log WHERE origin = $1", .text(fleet)) { $0.integer(0) }
        guard let number = found.first else {
            throw .missing("There is no log of the fleet \(fleet) in \(location.name).")
        }
        (state.database, state.fleet) = (database, number)
        return database
    }
}
