public import AuditKit
import AuditLog
import HummingbirdCore
import NIOPosix
import Signing
import SigningKit
import StrictJSON
public import TransparencyLog

/// Gives the admin listener access to the audit log.
public protocol AuditReading: Sendable {
    /// Opens a reader for one request. Blocks.
    func reader() throws(AuditStoreError) -> any AuditReader

    /// Opens readers of this log and of those of the other gateways in its database, for one request; only of this log
    /// without a fleet. Blocks.
    func allReaders() throws(AuditStoreError) -> [any AuditReader]

    /// The log's public key, and the cosigner's if it is known. Blocks.
    func verifiers() throws(AuditStoreError) -> [NoteVerifier]

    /// The checkpoints kept outside the log, and the number of unreadable parts among them. Blocks.
    func externals() throws(AuditStoreError) -> (checkpoints: ExternalCheckpoints, damaged: Int)
}

/// The audit routes for administrators. They change no entry; a verification appends one.
struct AuditRoutes {
    let reading: any AuditReading
    let gateway: SnapshotHolder

    func add(to routes: inout Routes) {
        routes.get("/v1/audit/entries", entries)
        routes.get("/v1/audit/entries/{index}", entry)
        routes.get("/v1/audit/entries/{index}/proof", inclusion)
        routes.get("/v1/audit/consistency", consistency)
        routes.get("/v1/audit/checkpoint", checkpoint)
        routes.get("/v1/audit/checkpoints", checkpoints)
        routes.get("/v1/audit/export", export)
        routes.get("/v1/audit/stats", stats)
        routes.get("/v1/audit/tokens", tokens)
        routes.post("/v1/audit/verification", verify)
    }

    // MARK: Reading

    /// Threads for disk reads. Checkpoints are published on other threads, so readers cannot delay them.
    private static let readers = started(NIOThreadPool(numberOfThreads: 2))
    /// One thread: a verification uses a core for seconds, so only one runs at a time.
    private static let verifiers = started(NIOThreadPool(numberOfThreads: 1))

    private static func started(_ pool: NIOThreadPool) -> NIOThreadPool {
        pool.start()
        return pool
    }

    /// Reads this log.
    ///
    /// - Parameter isVerification: true if `body` reads the whole log. It then runs on the verification thread.
    func read<Result: Sendable>(
        isVerification: Bool = false, _ body: @escaping @Sendable (any AuditReader) throws -> Result
    ) async throws -> Result {
        try await run(on: isVerification ? Self.verifiers : Self.readers) { reading in
            let reader = try reading.reader()
            defer { reader.close() }
            return try body(reader)
        }
    }

    /// Reads this log and those of the other gateways in its database.
    private func readAll<Result: Sendable>(
        _ body: @escaping @Sendable ([any AuditReader]) throws -> Result
    ) async throws -> Result {
        try await run(on: Self.readers) { reading in
            let readers = try reading.allReaders()
            defer { for reader in readers { reader.close() } }
            return try body(readers)
        }
    }

    private func run<Result: Sendable>(
        on threads: NIOThreadPool, _ body: @escaping @Sendable (any AuditReading) throws -> Result
    ) async throws -> Result {
        do {
            return try await threads.runIfActive { [reading] in try body(reading) }
        } catch let error as AuditStoreError {
            throw Problem(.auditUnavailable, "The audit log cannot be read. \(error)")
        }
    }

    // MARK: Routes

    /// `GET /v1/audit/entries?since=…&product=…&limit=…`: the matching entries, by default the latest first.
    @Sendable private func entries(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let query = try AuditQueryParameters(request, allowing: ["limit", "order", "after", "before"])
        let (found, isComplete, archived, coverage) = try await read { reader in
            var found: [StoredEntry] = []
            let coverage = try reader.search(query.query) { (entry) throws(AuditStoreError) in
                // One entry beyond the limit shows that there are more.
                found.append(entry)
                return found.count <= query.limit
            }
            let archived = try reader.archived(before: query.query)
            let isComplete = found.count <= query.limit && coverage.missing == nil && archived == nil
            return (Array(found.prefix(query.limit)), isComplete, archived, coverage)
        }
        var writer = JSONWriter(capacity: 640 * (found.count + 1))
        writer.object { writer in
            writer.name("entries")
            writer.array { writer in for entry in found { writer.raw(EntryJSON.indexed(entry)) } }
            writer.member("complete", isComplete)
            if let archived { writer.member("archivedBefore", archived) }
            if coverage.byIndex > 0 {
                writer.name("index")
                writer.object { writer in
                    writer.member("answeredFor", coverage.byIndex)
                    writer.member("named", coverage.foundByIndex)
                }
            }
        }
        return .json(writer.bytes)
    }

    @Sendable private func entry(_ request: Request, _ scope: RequestScope) async throws -> Response {
        _ = try QueryString(request.uri.query, allowing: [])
        let index = try Self.index(scope)
        let (entry, begin) = try await read { reader in (try reader.entry(at: index), try reader.firstIndex()) }
        guard let entry else {
            throw Problem(
                .notFound,
                index < begin
                    ? "Entry \(index) was archived: the database begins with entry \(begin)."
                    : "The log has no entry \(index).")
        }
        return .json(EntryJSON.indexed(entry))
    }

    /// `GET /v1/audit/stats?by=day`: counts by client, feature, key and outcome.
    @Sendable private func stats(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let query = try AuditQueryParameters(request, allowing: ["by"])
        // Encode the counts here: there may be hundreds of thousands, and the event loop also serves signatures.
        return .json(try await read { try Self.counts(query.query, by: query.interval, in: $0) })
    }

    private static func counts(
        _ query: AuditQuery, by interval: AuditInterval, in reader: any AuditReader
    ) throws(AuditStoreError) -> [UInt8] {
        let counted = try reader.tallies(query)
        let archived = try reader.archived(before: query)
        let tallies = interval.sums(counted.tallies)
        var writer = JSONWriter(capacity: 160 * (tallies.count + 1))
        writer.object { writer in
            writer.member("by", interval.rawValue)
            writer.name("counts")
            writer.array { writer in for tally in tallies { write(tally, &writer) } }
            writer.member("complete", counted.coverage.missing == nil && archived == nil)
            if let archived { writer.member("archivedBefore", archived) }
            if counted.coverage.byIndex > 0 {
                writer.name("index")
                writer.object { writer in writer.member("answeredFor", counted.coverage.byIndex) }
            }
        }
        return writer.bytes
    }

    /// `GET /v1/audit/tokens?key=…`: the long-lived tokens that are valid now; in a fleet, those in all logs of its
    /// database.
    @Sendable private func tokens(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let key = try QueryString(request.uri.query, allowing: ["key"]).optional("key", "a key ID") { $0 }
        return .json(try await readAll { readers in try readers.longLivedTokens(at: .now(), keyID: key) })
    }

    /// `POST /v1/audit/verification`: the gateway verifies its own log and records the verification. To verify without
    /// trusting the gateway, run `privyseal audit verify` on a copy.
    @Sendable private func verify(_ request: Request, _ scope: RequestScope) async throws -> Response {
        _ = try QueryString(request.uri.query, allowing: [])
        let (report, damaged) = try await read(isVerification: true) { [reading] reader in
            let kept = try reading.externals()
            let report = try AuditVerifier(try reading.verifiers(), externals: [kept.checkpoints]).verify(reader)
            return (report, kept.damaged)
        }
        let actor = scope.known.client ?? ""
        gateway.audit?.note(.verification(size: report.size, isIntact: report.isIntact, actor: actor))
        let answer: JSONMembers = [
            "outcome": report.isIntact ? "intact" : "broken",
            "origin": report.origin,
            "size": report.size,
            "checkpoints": report.keptChecked,
            "externalCheckpoints": report.externalChecked,
            "unreadableCheckpoints": damaged,
            "uncomparedCheckpoints": report.uncheckable,
            "archived": report.archived,
            "faultCount": report.faultCount,
            "faults": report.faults.map(\.description),
            "proof": report.proof,
        ]
        return .json(answer)
    }

    static func index(_ scope: RequestScope) throws -> Int {
        let text = try scope.parameter("index")
        guard let index = AuditQueryParameters.number(text) else {
            throw Problem(.notFound, "\"\(text)\" is not the index of an entry; indexes are whole numbers from 0.")
        }
        return index
    }

    private static func write(_ tally: AuditTally, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("begin", unescaped: tally.begin.rfc3339)
            if let client = tally.client { writer.member("client", client) }
            if let feature = tally.feature { writer.member("feature", feature) }
            if let key = tally.key { writer.member("key", key) }
            writer.member("outcome", tally.outcome)
            writer.member("count", tally.count)
        }
    }
}
