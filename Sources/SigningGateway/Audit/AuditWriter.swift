import AuditKit
import Foundation
import Logging
import SigningKit

/// The only one that writes: a thread that takes everything that waits, makes it durable in one transaction under a signed
/// checkpoint, and then lets go everybody who waited. One write to the disk serves as many as came meanwhile.
final class AuditWriter: Sendable {
    /// Entries wait for so long at most for those that are about to come.
    private static let patience = Duration.microseconds(500)
    /// Between attempts while the log cannot be written.
    private static let pause = Duration.milliseconds(500)

    private let queue: AuditQueue
    private let opening: @Sendable () throws(AuditStoreError) -> any AuditStore
    private let signer: AuditSigner
    private let known: [AuditHead]
    private let clock: ClockMonitor
    private let now: @Sendable () -> Timestamp
    private let opened: @Sendable ([String: AuditRegister]) throws(AuditStoreError) -> Void
    private let shelf: AuditShelf
    private let metrics = AuditMetrics()
    private let logger = Logger(label: "privyseal.audit")

    /// - Parameters:
    ///   - opening: opens the store; called again until it succeeds.
    ///   - known: checkpoints that this log gave out before: it has to hold all that they cover.
    ///   - opened: is told what is registered, each time that the store was opened, before anything is written.
    init(
        _ queue: AuditQueue, signer: AuditSigner, known: [AuditHead], shelf: AuditShelf, clock: ClockMonitor,
        now: @escaping @Sendable () -> Timestamp,
        opening: @escaping @Sendable () throws(AuditStoreError) -> any AuditStore,
        opened: @escaping @Sendable ([String: AuditRegister]) throws(AuditStoreError) -> Void
    ) {
        self.opened = opened
        self.queue = queue
        self.opening = opening
        self.signer = signer
        self.known = known
        self.shelf = shelf
        self.clock = clock
        self.now = now
    }

    /// Begins to write.
    ///
    /// - Parameters:
    ///   - ledger: where it has been opened already.
    ///   - ended: called when the queue was closed and everything is written.
    func start(with ledger: Ledger?, ended: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            ThreadName.set("privyseal-audit")
            var ledger = ledger
            while !queue.isClosed || queue.waitingCount > 0 || queue.hasNotes {
                if queue.condition.isWritable {
                    queue.wait(atMost: .seconds(1), patience: Self.patience)
                } else if !queue.isClosed {
                    queue.pause(Self.pause)
                }
                turn(&ledger)
                if queue.isClosed, !queue.condition.isWritable { break }
            }
            shelf.store = nil
            ledger?.store.close()
            ended()
        }
        // What is written needs little, and SQLite's own needs are modest.
        thread.stackSize = 1 << 20
        thread.start()
    }

    func open() throws(AuditStoreError) -> Ledger {
        let ledger = try Ledger(try opening(), signer: signer, known: known)
        shelf.store = ledger.store
        shelf.entryCount = ledger.tree.size
        shelf.registers = ledger.registers
        try opened(ledger.registers)
        if let time = ledger.lastTime { clock.compare(withEntryAt: time) }
        return ledger
    }

    // MARK: One transaction

    private func turn(_ ledger: inout Ledger?) {
        let isRecovering = !queue.condition.isWritable
        var group = queue.take()
        if group.isEmpty, !isRecovering {
            queue.succeed(nil, isTurn: false)
            return
        }
        let notes = group.notes
        let outage = queue.outage
        if let outage { group.notes.insert(entry(for: outage), at: 0) }
        let begun = ContinuousClock.now
        do throws(AuditStoreError) {
            var open = if let ledger { ledger } else { try self.open() }
            ledger = open
            let before = open.registerChanges
            let head = try open.append(group, at: now())
            ledger = open
            shelf.entryCount = open.tree.size
            if open.registerChanges != before { shelf.registers = open.registers }
            metrics.note(group, took: .now - begun)
            if !queue.condition.isWritable { logger.notice("The audit log is being written", metadata: name(open)) }
            // Whoever waited was refused in the meantime when the write took too long; the log itself is well.
            if let untold = queue.succeed(head, isTurn: true, telling: outage) { queue.note(entry(for: untold)) }
        } catch {
            if queue.condition.reason != AuditError.unavailable(error.description).description {
                logger.critical("Nothing is signed: the audit log cannot be written. \(error)")
            }
            metrics.noteFailure()
            queue.fail(.unavailable(error.description), keeping: notes)
        }
    }

    private func entry(for outage: AuditQueue.Outage) -> CanonicalEntry {
        let parts = outage.duration.components
        let milliseconds = Int(parts.seconds) * 1000 + Int(parts.attoseconds / 1_000_000_000_000_000)
        return AuditEntry(
            .outage(
                milliseconds: milliseconds, reason: outage.error.description, refused: outage.refused,
                lostEvents: outage.lostNotes), at: now()
        ).canonical
    }

    private func name(_ ledger: Ledger) -> Logger.Metadata {
        ["origin": "\(ledger.store.identity.origin)", "size": "\(ledger.tree.size)"]
    }
}
