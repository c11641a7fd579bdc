import AuditKit
import AuditLog
import Signing
import TransparencyLog

/// Copies a log to another database. The log keeps its name, key, entries, checkpoints and registers.
///
/// If it was interrupted, a second run completes it.
struct LogMigration {
    let source: AuditLocation
    /// With the origin of the log.
    let target: AuditLocation
    /// Of the log.
    let signer: NoteSigner
    let externals: [ExternalCheckpoints]

    private static let timeout = Duration.seconds(30)

    /// - Returns: the number of entries that were copied.
    /// - Throws: `CommandError`, or an error of a store.
    func run() async throws -> Int {
        try refuseFleet()
        try prepareTarget()
        try verify(source, "the log in \(source.place)")
        try await recordMove()
        let size = try copy()
        try verify(target, "the copy in \(target.place)")
        try await record(
            .continued(from: source.place, actor: Client.operator.name), in: target, continuesMovedLog: true)
        return size
    }

    /// The gateways of a fleet find its log only in the database of their own logs.
    private func refuseFleet() throws {
        let reader = try source.read()
        defer { reader.close() }
        guard try reader.head() != nil else {
            throw CommandError("\(source.place) has no entry of \(signer.name): there is nothing to move.")
        }
        if let obstacle = try reader.obstacleToMoving() {
            throw CommandError(
                "\(signer.name) \(obstacle), which cannot be moved alone. Stop all gateways, and move their whole database with "
                    + "PostgreSQL's own tools.")
        }
    }

    /// Throws if the target cannot be written, or holds other entries than those of an earlier run.
    private func prepareTarget() throws {
        if try !target.store.exists(at: target) {
            try target.store.create(at: target, identity: AuditIdentity(origin: signer.name))
        }
        let store = try target.open(as: .command, timeout: Self.timeout)
        defer { store.close() }
        let copied = try store.write { transaction throws(AuditStoreError) in try transaction.head() }
        let head = try head(of: source)
        // An earlier run copied the entry `moved`, too.
        guard try copied == nil || copied != head || destination() != nil else {
            throw CommandError(
                "\(target.place) holds the same entries already: it is the database of the log, or a copy of it. Give an "
                    + "empty database as the new one.")
        }
        guard copied == nil || copied == head else {
            throw CommandError(
                "\(target.place) already holds \(copied?.size ?? 0) entries of \(signer.name). If the log was moved "
                    + "before, use it there; to move it again, begin with an empty database.")
        }
    }

    private func head(of location: AuditLocation) throws -> SignedTreeHead? {
        let reader = try location.read()
        defer { reader.close() }
        return try reader.head()
    }

    /// Appends the entry `moved` to the source, unless it ends with one. From then on, gateways refuse the source.
    private func recordMove() async throws {
        if let place = try destination() {
            guard place == target.place else {
                throw CommandError("\(source.place) was moved to \(place) before. Move the log from there.")
            }
            return
        }
        try await record(.moved(to: target.place, actor: Client.operator.name), in: source)
    }

    private func destination() throws -> String? {
        let reader = try source.read()
        defer { reader.close() }
        return try Self.destination(of: reader)
    }

    /// Where the log was moved to; nil if its last entry is another one.
    private static func destination(of reader: any AuditReader) throws(AuditStoreError) -> String? {
        guard let head = try reader.head(), let last = try reader.entry(at: head.size - 1),
            let fields = EntryFields(last.body), fields.kind == "moved"
        else { return nil }
        return fields.text("to")
    }

    private func verify(_ location: AuditLocation, _ what: String) throws {
        let reader = try location.read()
        defer { reader.close() }
        guard reader.identity.origin == signer.name else {
            throw CommandError("\(location.place) is the log of \(reader.identity.origin), not of \(signer.name).")
        }
        let report = try AuditVerifier([signer.verifier], externals: externals, faultLimit: 1).verify(reader)
        if let fault = report.faults.first {
            throw CommandError("The log cannot be moved, because \(what) is not intact. \(fault)")
        }
    }

    private func record(_ event: AuditEvent, in location: AuditLocation, continuesMovedLog: Bool = false) async throws {
        let log = AuditLog(signer: signer, continuesMovedLog: continuesMovedLog) { () throws(AuditStoreError) in
            // A gateway that writes to the source on another machine must not go on.
            try location.open(as: .gateway, timeout: Self.timeout)
        }
        try log.open()
        try await finally(log.close) { try await log.record(event) }
    }

    // MARK: Copy

    /// Copies everything in one transaction, unless an earlier run has done that.
    private func copy() throws -> Int {
        let reader = try source.read()
        defer { reader.close() }
        guard let head = try reader.head(), try Self.destination(of: reader) == target.place else {
            throw CommandError("Another program has written to \(source.place) meanwhile.")
        }
        let store = try target.open(as: .command, timeout: Self.timeout)
        defer { store.close() }
        try store.write { (transaction) throws(AuditStoreError) in
            if let copied = try transaction.head() {
                guard copied == head else {
                    throw .replaced("Another program has written to \(target.place) meanwhile.")
                }
                return
            }
            try copy(reader, head, to: transaction)
        }
        return head.size
    }

    private func copy(
        _ reader: any AuditReader, _ head: SignedTreeHead, to transaction: any AuditTransaction
    ) throws(AuditStoreError) {
        for (number, root) in try reader.segmentRoots().enumerated() {
            try transaction.close(segment: number, root: root)
        }
        let first = try reader.firstIndex()
        if first > 0 { try transaction.drop(segmentsBefore: first / AuditSegment.size) }
        try reader.entries(in: first..<head.size) { entry throws(AuditStoreError) in
            try transaction.append(entry)
            return true
        }
        for register in try reader.registers() { try transaction.register(register) }
        for checkpoint in try reader.checkpoints() { try transaction.keep(checkpoint) }
        try transaction.setHead(head)
    }
}
