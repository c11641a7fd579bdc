import AuditKit
import Logging
import Metrics
import SigningKit
import Synchronization

/// The writer thread, which alone writes to the log in this process. It makes all waiting entries durable in one
/// transaction with a signed tree head, and then resumes their calls. So one write to the disk serves many requests.
struct AuditWriter: Sendable {
    /// The time between attempts while the log cannot be written.
    private static let pause = Duration.milliseconds(500)

    let queue: AuditQueue
    let signer: AuditSigner
    /// Checkpoints that this log published before. The store must hold all entries that they cover.
    let known: [SignedTreeHead]
    /// Whether the log may end with an entry `moved`.
    let continuesMovedLog: Bool
    let storeHandle: StoreHandle
    let clock: ClockMonitor
    let now: @Sendable () -> Timestamp
    let opening: @Sendable () throws(AuditStoreError) -> any AuditStore
    /// Gets the registers each time the store is opened, before the first write, and after each outage.
    let loading: AuditLog.RegisterLoading
    private let commits = Timer(label: "privyseal_audit_commit_seconds")
    private let entries = Counter(label: "privyseal_audit_entries_total")
    private let failures = Counter(label: "privyseal_audit_write_failures_total")
    private let logger = Logger(label: "privyseal.audit")

    /// - Parameters:
    ///   - appender: nil if the log is not open yet.
    ///   - ended: called when the queue is closed and the thread has closed the store.
    /// - Returns: false when the system has no thread left.
    func start(with appender: LogAppender?, ended: @escaping @Sendable () -> Void) -> Bool {
        // Export the counter as 0, so that alerts can see its first increment.
        failures.increment(by: 0)
        // Entries and SQLite need little stack: 1 MiB.
        return SystemThread.start("privyseal-audit", stackSize: 1 << 20) { [self] in
            var appender = appender
            while !queue.isClosed || queue.waitingCount > 0 || queue.hasNotes {
                if !queue.isClosed { queue.wait(atMost: queue.condition.isWritable ? .seconds(1) : Self.pause) }
                turn(&appender)
                if queue.isClosed, !queue.condition.isWritable { break }
            }
            storeHandle.store = nil
            appender?.store.close()
            ended()
        }
    }

    func open() throws(AuditStoreError) -> LogAppender {
        let appender = try LogAppender(
            try opening(), signer: signer, known: known, continuesMovedLog: continuesMovedLog)
        storeHandle.store = appender.store
        storeHandle.content = appender.content
        try loading(appender.registers, now())
        if let time = appender.lastTime { clock.compare(withEntryAt: time) }
        return appender
    }

    // MARK: One transaction

    private func turn(_ appender: inout LogAppender?) {
        let isRecovering = !queue.condition.isWritable
        var group = queue.take()
        if group.isEmpty, !isRecovering {
            queue.succeed(nil, hadTransaction: false)
            return
        }
        let notes = group.notes
        let outage = queue.outage
        if let outage { group.notes.insert(entry(for: outage), at: 0) }
        let begun = ContinuousClock.now
        do throws(AuditStoreError) {
            var open = if let appender { appender } else { try self.open() }
            appender = open
            let written = try open.append(group, at: now())
            appender = open
            storeHandle.content = open.content
            guard let written else { return queue.supersede(keeping: notes) }
            commits.record(duration: .now - begun)
            entries.increment(by: Int64(written.entryCount))
            if !queue.endWriting() {
                // A change that was refused as overdue may be recorded now. The gateway must not sign with the earlier
                // states. If the registers cannot be read, the next turn opens the log again, which reads them first.
                do throws(AuditStoreError) { try loading(open.registers, now()) } catch {
                    storeHandle.store = nil
                    open.store.close()
                    appender = nil
                    return refuse(error, keeping: [])
                }
                let name: Logger.Metadata = ["origin": "\(open.store.identity.origin)", "size": "\(open.tree.size)"]
                logger.notice("The audit log is being written", metadata: name)
            }
            // If the write took too long, its calls were refused already. The entries are in the log nevertheless.
            if let unrecorded = queue.succeed(written.head, hadTransaction: true, recording: outage) {
                queue.note(entry(for: unrecorded))
            }
        } catch {
            refuse(error, keeping: notes)
        }
    }

    /// Ends a transaction that failed.
    private func refuse(_ error: AuditStoreError, keeping notes: [AuditEntry]) {
        if queue.condition.reason != AuditError.unavailable(error.description).description {
            logger.critical("Nothing is signed: the audit log cannot be written. \(error)")
        }
        failures.increment()
        queue.fail(.unavailable(error.description), keeping: notes)
    }

    private func entry(for outage: AuditQueue.Outage) -> AuditEntry {
        AuditEntry(
            .outage(
                milliseconds: Int(outage.duration.milliseconds), reason: outage.error.description,
                refused: outage.refused, lostEvents: outage.lostNotes), at: now())
    }
}

/// The open store, and copies of its figures for callers that must not wait for the disk.
@dynamicMemberLookup
final class StoreHandle: Sendable {
    struct State {
        var store: (any AuditStore)?
        var freeBytes: Int?
        var content = AuditLog.Content()
    }

    private let state = Mutex(State())

    subscript<Value: Sendable>(dynamicMember path: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: path] } }
        set { state.withLock { $0[keyPath: path] = newValue } }
    }
}
