public import AuditKit
import Logging
public import ServiceLifecycle
public import SigningKit
import StrictJSON
import Synchronization
public import TransparencyLog

/// The record of everything that is signed, and of everything that is refused.
///
/// No record, no signature: whoever records something waits until it is durable, and who cannot record it must not let it out.
public final class AuditLog: Service {
    let queue = AuditQueue()
    private let writer: AuditWriter
    private let settings: AuditSettings
    private let refusals = RefusalTally()
    private let users: UserHash
    private let now: @Sendable () -> Timestamp
    public let clock: ClockMonitor
    private let shelf = AuditShelf()
    /// The states of keys, which are registered in the log.
    public let keys = KeyBoard()
    private let caretaker: AuditCaretaker
    private let sentinel: AuditSentinel
    private let publisher: CheckpointPublisher?
    private let keeping = Mutex(CheckpointKeeping())
    private let ended = Doorbell()
    private let logger = Logger(label: "privyseal.audit")

    /// - Parameters:
    ///   - signer: the log's key.
    ///   - known: checkpoints that this log gave out before, from wherever they were kept.
    ///   - publisher: where checkpoints go; nil for a process that signs once and leaves them to the next.
    ///   - now: the wall clock.
    ///   - uptime: the monotonic clock; nil for the one of the system.
    ///   - opening: opens the store; called again until it succeeds.
    public init(
        signer: NoteSigner, settings: AuditSettings = AuditSettings(), known: [AuditHead] = [],
        publisher: CheckpointPublisher? = nil, now: @escaping @Sendable () -> Timestamp = GrantIssuer.systemTime,
        uptime: (@Sendable () -> Duration)? = nil,
        opening: @escaping @Sendable () throws(AuditStoreError) -> any AuditStore
    ) {
        self.settings = settings
        self.publisher = publisher
        self.now = now
        clock = ClockMonitor(now: now, uptime: uptime) { [queue] step in
            let event = AuditEvent.clock(before: step.before, milliseconds: step.milliseconds)
            queue.note(AuditEntry(event, at: step.after).canonical)
        }
        users = UserHash(secret: signer.derivedKey(for: UserHash.purpose))
        writer = AuditWriter(
            queue, signer: AuditSigner(signer), known: known, shelf: shelf, clock: clock, now: now, opening: opening
        ) { [keys] (registers) throws(AuditStoreError) in
            do throws(JSONReadError) { try keys.load(registers, at: now()) } catch {
                throw .damaged("The register of keys cannot be read: \(error)")
            }
        }
        sentinel = AuditSentinel(queue, limit: settings.writeTimeout)
        caretaker = AuditCaretaker(shelf, queue, reserve: settings.reserve)
    }

    /// Opens the log and begins to write. Blocks; once.
    ///
    /// - Throws: what a person has to mend first: there is no such log, or not the one that it was. What may pass, such as a
    ///   full disk, does not stop it: nothing is signed until it has.
    public func open() throws(AuditStoreError) {
        var ledger: Ledger?
        do throws(AuditStoreError) {
            ledger = try writer.open()
            queue.succeed(nil, isTurn: true)
        } catch {
            switch error {
            case .missing, .replaced, .damaged, .unfit, .closed: throw error
            case .full, .readOnly, .busy, .failed:
                logger.critical("Nothing is signed: the audit log cannot be opened. \(error)")
                queue.fail(.unavailable(error.description), keeping: [])
            }
        }
        sentinel.start()
        writer.start(with: ledger) { [ended] in ended.ring() }
    }

    // MARK: Recording

    /// Returns when the entry is durable.
    public func record(_ event: AuditEvent) async throws(AuditError) {
        try await record([entry(event)])
    }

    /// - Parameter answers: requests that get 503 when it cannot be written; nil for as many as there are entries.
    func record(_ entries: [CanonicalEntry], answers: Int? = nil) async throws(AuditError) {
        _ = try await queue.enter(entries, answers: answers)
    }

    /// Writes events of which each registers something, all of them or none.
    ///
    /// - Returns: the time that they bear.
    func register(_ records: [(record: LifeRecord, name: String, value: [UInt8])], at time: Timestamp)
        async throws(AuditError)
    {
        let entries = records.map {
            AuditEntry(.life($0.record, register: (name: $0.name, value: $0.value)), at: time).canonical
        }
        let registrations = records.enumerated().map {
            AuditQueue.Registration(position: $0.offset, name: $0.element.name, value: $0.element.value)
        }
        _ = try await queue.enter(entries, registrations: registrations)
    }

    /// What is registered, by name; empty while the log has not been opened.
    public var registers: [String: AuditRegister] { shelf.registers }

    /// The time of its entries.
    func time() -> Timestamp {
        // A step is told before the first entry that bears the new time.
        clock.check()
        return now()
    }

    func entry(_ event: AuditEvent) -> CanonicalEntry { AuditEntry(event, at: time()).canonical }

    /// Returns at once; the event is written as soon as the log can be.
    public func note(_ event: AuditEvent) { queue.note(entry(event)) }

    func note(_ event: KeyPlaceEvent) {
        note(
            .token(
                TokenRecord(event: event.kind.rawValue, label: event.label, serial: event.serial, reason: event.reason))
        )
    }

    /// Under the time of what was counted, so that each hour, day and month has its own.
    private func note(_ counts: RefusalCounts) {
        let end = Timestamp(milliseconds: counts.minute.milliseconds + 59_999)
        queue.note(AuditEntry(.refusals(counts), at: min(now(), end)).canonical)
    }

    /// Counts a request that was turned away at the door; the counts are recorded each minute.
    ///
    /// - Parameter client: nil for one who did not prove who they are.
    public func count(_ reason: String, client: String?) { refusals.count(reason, client: client, at: now()) }

    func hash(ofUser user: String) -> [UInt8] { users.text(of: user) }

    /// A request was refused because the log cannot be written.
    func noteRefused() { queue.noteRefused() }

    // MARK: What is known

    public var state: AuditState { queue.condition }

    /// Entries, when it was last written.
    public var entryCount: Int { shelf.entryCount }

    /// Where the log is kept; nil where nobody can say.
    public var freeBytes: Int? { shelf.freeBytes }

    /// Whether that is less than the reserve: an alarm, not a refusal.
    public var isShortOfSpace: Bool { caretaker.isShortOfSpace }

    /// Of the checkpoint that went out last, and to where; nil without a publisher.
    public var publication: PublicationStatus? { publisher?.status }

    // MARK: Running

    /// Sends out checkpoints and records counts. When it is stopped, what was counted and a last checkpoint go out, and the log is closed.
    public func run() async throws {
        caretaker.start()
        await withTaskGroup { group in
            group.addTask { await self.minute() }
            await cancelWhenGracefulShutdown { await self.publish() }
            group.cancelAll()
        }
        // Whoever ran out of patience cancels: what there is to write is written all the same.
        let patience = Task.isCancelled ? Self.hurry : CheckpointPublisher.patience
        await Task { await self.finish(patience: patience) }.value
    }

    /// For the last checkpoint, when the stop has taken too long already.
    private static let hurry = Duration.seconds(2)

    private func finish(patience: Duration) async {
        for counts in refusals.take() { note(counts) }
        try? await record(.stop)
        await publishOnce(isLast: true, patience: patience)
        await close()
    }

    /// Writes what there is, and closes the store.
    public func close() async {
        caretaker.stop()
        queue.close()
        await ended.wait(atMost: settings.writeTimeout)
        sentinel.stop()
    }

    private func minute() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            for counts in refusals.takeFinished(at: now()) { note(counts) }
        }
    }

    private func publish() async {
        let interval = settings.checkpointInterval
        while !Task.isCancelled {
            let next = ContinuousClock.now + interval
            await publishOnce(patience: min(interval, CheckpointPublisher.patience))
            try? await Task.sleep(until: next)
        }
    }

    /// A checkpoint over everything that is durable now: signed by the co-signer where there is one, kept now and then, and
    /// sent out.
    private func publishOnce(isLast: Bool = false, patience: Duration = CheckpointPublisher.patience) async {
        guard let publisher, let head = try? await queue.enter([], needsNews: true) else { return }
        let checkpoint = await publisher.cosign(head)
        if keeping.withLock({ $0.keeps(checkpoint.size, isCosigned: checkpoint.note != head.note) }) {
            do throws(AuditError) {
                _ = try await queue.enter([], checkpoint: checkpoint)
            } catch {
                keeping.withLock { $0 = CheckpointKeeping() }
                return logger.error("A checkpoint could not be kept, and does not go out. \(error)")
            }
        }
        await publisher.publish(checkpoint, isLast: isLast, patience: patience)
    }
}
