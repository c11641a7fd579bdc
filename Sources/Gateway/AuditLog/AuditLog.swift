public import AuditKit
public import Crypto
import Logging
public import ServiceLifecycle
public import SigningKit
import Synchronization
public import TransparencyLog

/// The audit log of all signatures and refusals.
///
/// `record` returns when the entry is durable. If it throws, the caller must not release the answer.
public final class AuditLog: Service {
    let queue = AuditQueue()
    private let writer: AuditWriter
    private let settings: AuditSettings
    private let refusals = RefusalTally()
    private let users: UserHash
    private let now: @Sendable () -> Timestamp
    public let clock: ClockMonitor
    private let storeHandle = StoreHandle()
    private let maintenance: MaintenanceThreads
    private let timeoutMonitor: WriteTimeoutMonitor
    private let publisher: CheckpointPublisher?
    private let freshness: RegisterFreshness?
    private let isShared: Bool
    private let signer: NoteSigner
    private let halt = SigningHalt()
    private let keeping = Mutex(CheckpointRetention())
    private let ended = AsyncSignal()
    private let logger = Logger(label: "privyseal.audit")

    /// Reads the registers by name. An error prevents the opening of the log.
    public typealias RegisterLoading = @Sendable ([String: AuditRegister], Timestamp) throws(AuditStoreError) -> Void

    /// - Parameters:
    ///   - signer: signs with the key of the log.
    ///   - known: checkpoints that this log published before, from any source.
    ///   - continuesMovedLog: whether the log may end with an entry `moved`, which then gets a successor.
    ///   - publisher: sends checkpoints out; nil for a process that signs once and leaves this to the next process.
    ///   - uptime: the monotonic clock; nil for `ContinuousClock`.
    ///   - freshness: of key states that another log holds; nil if this log holds them.
    ///   - isShared: whether several gateways write the log at the same time.
    ///   - loading: gets the registers and the time each time the store is opened, before the first write, and after each
    ///     outage.
    ///   - opening: opens the store. The writer thread calls it again until it succeeds.
    public init(
        signer: NoteSigner, settings: AuditSettings = AuditSettings(), known: [SignedTreeHead] = [],
        continuesMovedLog: Bool = false, publisher: CheckpointPublisher? = nil,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        uptime: (@Sendable () -> Duration)? = nil, freshness: RegisterFreshness? = nil,
        isShared: Bool = false, loading: @escaping RegisterLoading = { _, _ in },
        opening: @escaping @Sendable () throws(AuditStoreError) -> any AuditStore
    ) {
        self.settings = settings
        self.publisher = publisher
        self.freshness = freshness
        self.isShared = isShared
        self.signer = signer
        self.now = now
        clock = ClockMonitor(now: now, uptime: uptime) { [queue] step in
            let event = AuditEvent.clock(before: step.before, milliseconds: step.milliseconds)
            queue.note(AuditEntry(event, at: step.after))
        }
        users = UserHash(secret: signer.derivedKey(for: UserHash.purpose))
        writer = AuditWriter(
            queue: queue, signer: AuditSigner(signer: signer), known: known,
            continuesMovedLog: continuesMovedLog, storeHandle: storeHandle, clock: clock, now: now, opening: opening,
            loading: loading)
        timeoutMonitor = WriteTimeoutMonitor(queue: queue, limit: settings.writeTimeout)
        maintenance = MaintenanceThreads(storeHandle, queue, reserve: settings.reserve)
    }

    /// Opens the log and starts the writer thread. It blocks. Call it once.
    ///
    /// - Throws: errors that the operator must repair, such as a missing or replaced log. It does not throw temporary
    ///   errors, such as a full disk: the writer thread retries, and the gateway signs nothing until the log is open.
    public func open() throws(AuditStoreError) {
        var appender: LogAppender?
        do throws(AuditStoreError) {
            appender = try writer.open()
            queue.succeed(nil, hadTransaction: true)
        } catch {
            guard error.mayPass else { throw error }
            logger.critical("Nothing is signed: the audit log cannot be opened. \(error)")
            queue.fail(.unavailable(error.description), keeping: [])
        }
        guard timeoutMonitor.start(), writer.start(with: appender, ended: { [ended] in ended.signal() }) else {
            timeoutMonitor.stop()
            appender?.store.close()
            throw .failed(Self.noThread)
        }
    }

    private static let noThread = "The system has no thread left for the audit log."

    // MARK: Recording

    /// Returns when the entry is durable.
    public func record(_ event: AuditEvent) async throws(AuditError) { try await record([entry(event)]) }

    package func record(_ entries: [AuditEntry], answers: Int? = nil) async throws(AuditError) {
        _ = try await queue.enter(AuditQueue.Group(entries: entries), answers: answers)
    }

    /// Writes the entries and their registers in one transaction. All entries have the same time.
    ///
    /// - Parameters:
    ///   - basis: the registers from which the new values were computed, by name.
    ///   - latest: when the transaction must have begun.
    /// - Throws: `.superseded` if the log has other registers by now, or if it is too late.
    package func register(
        _ records: [(record: KeyLifecycleEntry, name: String, value: [UInt8])], at time: Timestamp,
        basis: [String: [UInt8]], latest: ContinuousClock.Instant? = nil
    ) async throws(AuditError) {
        let entries = records.map {
            AuditEntry(.life($0.record, register: (name: $0.name, value: $0.value)), at: time)
        }
        let registrations = records.enumerated().map {
            AuditQueue.Registration(position: $0.offset, name: $0.element.name, value: $0.element.value)
        }
        _ = try await queue.enter(
            AuditQueue.Group(entries: entries, registrations: registrations, basis: basis, latest: latest))
    }

    /// Reads what other gateways have appended to a log that several of them write.
    package func follow() async throws(AuditError) { _ = try await queue.enter(AuditQueue.Group(isProbe: true)) }

    /// The registers by name; empty until the log is open.
    public var registers: [String: AuditRegister] { storeHandle.content.registers }

    /// What the log holds after the last transaction.
    package struct Content: Sendable {
        package var entryCount = 0
        package var registers: [String: AuditRegister] = [:]
    }

    package var content: Content { storeHandle.content }

    package func time() -> Timestamp {
        // Report a clock step before the first entry with the new time.
        clock.check()
        return now()
    }

    package func entry(_ event: AuditEvent) -> AuditEntry { AuditEntry(event, at: time()) }

    /// Returns at once. The writer thread writes the event when the log is writable.
    public func note(_ event: AuditEvent) { queue.note(entry(event)) }

    package func note(_ event: KeyBackendEvent) {
        note(.token(event: event.kind.rawValue, label: event.label, serial: event.serial, reason: event.reason))
    }

    /// Counts a request that was refused before signing. The log gets the counts of each minute.
    ///
    /// - Parameter client: nil for an unauthenticated caller.
    public func count(_ reason: String, client: String?) { refusals.count(reason, client: client, at: now()) }

    /// A key for another purpose, see `NoteSigner.derivedKey`.
    public func derivedKey(for purpose: String) -> SymmetricKey { signer.derivedKey(for: purpose) }

    package func hash(ofUser user: String) -> [UInt8] { users.text(of: user) }

    /// Counts requests that were refused because `state` was not writable.
    package func noteRefused(_ error: AuditError, count: Int) {
        if case .halted = error { halt.noteRefused(error, count: count) } else { queue.noteRefused(count) }
    }

    // MARK: Status

    /// Whether signatures may be released. Not writable also if the key states in memory may be outdated, or if too few
    /// witnesses cosign.
    public var state: AuditState {
        guard queue.condition.isWritable, let error = haltError else { return queue.condition }
        return .unwritable(error)
    }

    /// Whether entries can be written.
    package var writeState: AuditState { queue.condition }

    private var haltError: AuditError? { freshness?.error ?? publisher?.quorum?.error }

    /// Whether other machines decide, too, whether this gateway may sign: those of its fleet, or witnesses.
    package var dependsOnOthers: Bool { freshness != nil || publisher?.quorum != nil }

    /// What a fleet shares beside its logs.
    ///
    /// - Throws: `.closed` until the log is open.
    package func membership(in fleet: String) throws(AuditStoreError) -> any FleetMembership {
        guard let store = storeHandle.store else { throw .closed }
        return try store.membership(in: fleet)
    }

    /// The number of entries after the last write.
    public var entryCount: Int { storeHandle.content.entryCount }

    /// The free bytes on the file system of the log; nil if unknown.
    public var freeBytes: Int? { storeHandle.freeBytes }

    /// Whether `freeBytes` is less than the reserve. This is an alarm only; the gateway continues to sign.
    public var isShortOfSpace: Bool { maintenance.isShortOfSpace }

    /// The publication of the last checkpoint; nil without a publisher.
    public var publication: PublicationStatus? { publisher?.status }

    /// The last answers of the witnesses; nil without witnesses.
    public var witnesses: WitnessStatus? { publisher?.quorum?.status }

    // MARK: Running

    /// Publishes checkpoints and records counts. At shutdown, it does both a last time and closes the log.
    public func run() async throws {
        guard isShared || maintenance.start() else {
            await finish(timeout: Self.cancelledTimeout)
            throw AuditError.unavailable(Self.noThread)
        }
        await withTaskGroup { group in
            group.addTask { await self.minute() }
            await cancelWhenGracefulShutdown { await self.publish() }
            group.cancelAll()
        }
        // If the shutdown takes too long, this task is cancelled. The last entries are written nevertheless.
        let timeout = Task.isCancelled ? Self.cancelledTimeout : CheckpointPublisher.timeout
        await Task { await self.finish(timeout: timeout) }.value
    }

    /// The timeout for the last checkpoint after a cancelled shutdown.
    private static let cancelledTimeout = Duration.seconds(2)

    private func finish(timeout: Duration) async {
        for entry in refusals.take(at: now(), isLast: true) { queue.note(entry) }
        if !isShared { try? await record(.stop) }
        await publishOnce(isLast: true, timeout: timeout)
        await close()
    }

    /// Writes the waiting entries and closes the store.
    public func close() async {
        maintenance.stop()
        queue.close()
        // A second call returns at once.
        if await ended.wait(atMost: settings.writeTimeout) { ended.signal() }
        timeoutMonitor.stop()
    }

    private func minute() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            for entry in refusals.take(at: now()) { queue.note(entry) }
            if queue.condition.isWritable, let event = halt.check(haltError) { note(event) }
        }
    }

    private func publish() async {
        let interval = settings.checkpointInterval
        while !Task.isCancelled {
            let next = ContinuousClock.now + interval
            await publishOnce(timeout: min(interval, CheckpointPublisher.timeout))
            var pause = Self.shortestPause
            while publisher?.quorum?.isUrgent == true, .now + pause < next, !Task.isCancelled {
                try? await Task.sleep(for: pause)
                await publishOnce(isRepeated: true, timeout: min(interval, CheckpointPublisher.timeout))
                pause = min(pause * 2, Self.longestPause)
            }
            try? await Task.sleep(until: next)
        }
    }

    /// The pauses between two tries to get the signatures of enough witnesses.
    private static let (shortestPause, longestPause) = (Duration.seconds(1), Duration.seconds(8))

    /// The longest time for the witnesses to answer.
    private static let witnessTimeout = Duration.seconds(5)

    /// For a process that signs once, where only enough witnesses allow that: asks them now, and stores the checkpoint that
    /// they cosign.
    public func requireQuorum() async {
        // A gateway may publish a checkpoint at the same time, which makes the one of this process too old.
        for _ in 0..<Self.quorumAttempts where publisher?.quorum?.isUrgent == true {
            guard let publisher, let head = try? await queue.enter(AuditQueue.Group(isProbe: true)) else { return }
            let (checkpoint, cosigners) = await publisher.cosign(head, timeout: Self.witnessTimeout)
            if cosigners.hasQuorum { _ = try? await queue.enter(AuditQueue.Group(checkpoints: [checkpoint])) }
        }
    }

    private static let quorumAttempts = 3

    /// Publishes a checkpoint over all durable entries. The log stores some of them, see `CheckpointRetention`.
    ///
    /// - Parameter isRepeated: whether only the witnesses are asked again. Without a quorum, nothing is published then.
    private func publishOnce(
        isLast: Bool = false, isRepeated: Bool = false, timeout: Duration = CheckpointPublisher.timeout
    ) async {
        let group = AuditQueue.Group(needsNewEntry: !isRepeated, isProbe: isRepeated)
        guard let publisher, let head = try? await queue.enter(group) else { return }
        let (checkpoint, cosigners) = await publisher.cosign(head, timeout: min(timeout, Self.witnessTimeout))
        if isRepeated, !cosigners.hasQuorum { return }
        if keeping.withLock({ $0.keeps(checkpoint.size, cosigners) }) {
            do throws(AuditError) {
                _ = try await queue.enter(AuditQueue.Group(checkpoints: [checkpoint]))
            } catch {
                keeping.withLock { $0 = CheckpointRetention() }
                return logger.error("A checkpoint could not be stored, so it is not published. \(error)")
            }
        }
        await publisher.publish(checkpoint, isLast: isLast, timeout: timeout)
    }
}

public struct AuditSettings: Hashable, Sendable {
    /// How long a write may take before the calls that wait for it are refused.
    public var writeTimeout: Duration
    /// The time between two published checkpoints.
    public var checkpointInterval: Duration
    /// The number of free bytes below which the gateway logs an alarm.
    public var reserve: Int

    public init(
        writeTimeout: Duration = .seconds(2), checkpointInterval: Duration = .seconds(60), reserve: Int = 256 << 20
    ) {
        self.writeTimeout = writeTimeout
        self.checkpointInterval = checkpointInterval
        self.reserve = reserve
    }
}
