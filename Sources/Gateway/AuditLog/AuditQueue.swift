import AuditKit
import Logging
import SigningKit
import Synchronization

/// The queue of entries between request tasks and the writer thread. Each waiting call is resumed once: by the writer
/// thread after the transaction, or by `WriteTimeoutMonitor` if the transaction takes too long.
final class AuditQueue: Sendable {
    typealias Outcome = Result<SignedTreeHead?, AuditError>

    struct Waiting: Sendable {
        let group: Group
        /// Requests that get 503 if the write fails. The other entries are then counted as lost.
        let answers: Int
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    /// A new value of a register, which belongs to one of the group's entries.
    struct Registration: Sendable {
        /// The index of the entry among those of the group.
        var position: Int
        let name: String
        let value: [UInt8]
    }

    /// The content of one call, or of one transaction.
    struct Group: Sendable {
        var entries: [AuditEntry] = []
        /// Entries for which no call waits.
        var notes: [AuditEntry] = []
        /// Checkpoints to store.
        var checkpoints: [SignedTreeHead] = []
        var registrations: [Registration] = []
        /// The registers from which the new values were computed, by name. If they are others by now, the transaction
        /// writes nothing.
        var basis: [String: [UInt8]]?
        /// When the transaction must have begun. If it begins later, it writes nothing.
        var latest: ContinuousClock.Instant?
        /// Whether the log must contain an entry that is newer than the last checkpoint.
        var needsNewEntry = false
        /// Whether to run the transaction even without entries, to test the store.
        var isProbe = false
        var isEmpty: Bool { entries.isEmpty && notes.isEmpty && checkpoints.isEmpty && !needsNewEntry && !isProbe }

        mutating func add(_ call: Group) {
            for var registration in call.registrations {
                registration.position += entries.count
                registrations.append(registration)
            }
            entries += call.entries
            basis = basis ?? call.basis
            latest = latest ?? call.latest
            isProbe = isProbe || call.isProbe
            checkpoints += call.checkpoints
            needsNewEntry = needsNewEntry || call.needsNewEntry
        }
    }

    struct Outage {
        let error: AuditError
        let duration: Duration
        /// Requests that got 503.
        var refused: Int
        /// Entries without an answer that were not recorded.
        var lostNotes: Int
    }

    /// The maximum number of notes while the log cannot be written.
    static let noteLimit = 1024

    private let state = Mutex(State())
    /// Wakes the writer thread. A signal without new content costs the thread an empty round.
    private let signal = Semaphore()

    var condition: AuditState { state.withLock { $0.condition } }

    // MARK: For requests

    /// Returns when the group is durable.
    ///
    /// - Parameter answers: the number of requests that get 503 if the write fails; nil for the number of entries.
    func enter(_ group: Group, answers: Int? = nil) async throws(AuditError) -> SignedTreeHead? {
        try await withUnsafeContinuation { continuation in
            let waiting = Waiting(group: group, answers: answers ?? group.entries.count, continuation: continuation)
            let (refusal, isFirst) = state.withLock { state -> (AuditError?, Bool) in
                if state.isClosed { return (.closed, false) }
                if case .unwritable(let error) = state.condition {
                    state.noteRefused(waiting)
                    return (error, false)
                }
                state.waiting.append(waiting)
                return (nil, state.waiting.count == 1)
            }
            if let refusal { return continuation.resume(returning: .failure(refusal)) }
            if isFirst { signal.signal() }
        }.get()
    }

    /// Adds an entry without waiting. While the log cannot be written, the queue keeps up to `noteLimit` of them.
    func note(_ entry: AuditEntry) {
        let isFirst = state.withLock { state in
            // The limit is for outages only: while the log is writable, the writer thread soon removes the notes.
            guard !state.isClosed, state.condition.isWritable || state.notes.count < Self.noteLimit else {
                state.lostNotes += 1
                return false
            }
            state.notes.append(entry)
            return state.notes.count == 1
        }
        if isFirst { signal.signal() }
    }

    /// Makes the writer thread test the store, because another thread got an error from it.
    func probe() {
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.condition.isWritable, !state.mustProbe else { return false }
            state.mustProbe = true
            return true
        }
        if isFirst { signal.signal() }
    }

    /// Counts requests that were refused before they added an entry.
    func noteRefused(_ count: Int) { state.withLock { $0.refused += count } }

    // MARK: For the writer thread

    /// Waits until there is something to write or the queue is closed, for `limit` at most.
    func wait(atMost limit: Duration) { signal.wait(atMost: limit) }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Everything that waits. Entries that arrive during the transaction form the next group.
    func take() -> Group {
        state.withLock { state in
            var group = Group(notes: state.notes, isProbe: state.mustProbe)
            (state.notes, state.mustProbe) = ([], false)
            (state.inWriting, state.waiting) = (state.waiting, [])
            state.waiting.reserveCapacity(state.inWriting.count)
            group.entries.reserveCapacity(state.inWriting.count)
            for waiting in state.inWriting { group.add(waiting.group) }
            state.writingSince = .now
            return group
        }
    }

    var hasNotes: Bool { state.withLock { !$0.notes.isEmpty } }

    /// Ends the time in which `refuseOverdue` refuses the calls of the transaction.
    ///
    /// - Returns: whether the log is writable: the calls were not refused.
    func endWriting() -> Bool {
        state.withLock { state in
            state.writingSince = nil
            return state.condition.isWritable
        }
    }

    /// Ends a successful transaction.
    ///
    /// - Parameters:
    ///   - hadTransaction: false if there was nothing to write.
    ///   - recorded: the outage that the transaction recorded.
    /// - Returns: the part of the ended outage that is not recorded yet.
    @discardableResult
    func succeed(_ head: SignedTreeHead?, hadTransaction: Bool, recording recorded: Outage? = nil) -> Outage? {
        let (answered, unrecorded) = state.withLock { state in
            defer { state.inWriting = [] }
            state.writingSince = nil
            var unrecorded = hadTransaction ? state.outage : nil
            if hadTransaction {
                (state.condition, state.unwritableSince) = (.writable, nil)
                (state.refused, state.lostNotes) = (0, 0)
            }
            if let recorded, var rest = unrecorded {
                // Requests that were refused after the transaction had begun.
                rest.refused -= recorded.refused
                rest.lostNotes -= recorded.lostNotes
                unrecorded = rest.refused > 0 || rest.lostNotes > 0 ? rest : nil
            }
            return (state.inWriting, unrecorded)
        }
        Self.resume(answered, with: .success(head))
        return unrecorded
    }

    /// Ends a failed transaction and refuses all waiting calls. New calls are refused until a transaction succeeds.
    func fail(_ error: AuditError, keeping notes: [AuditEntry]) {
        let answered = state.withLock { state in
            state.writingSince = nil
            // Older notes stay before newer ones.
            let all = notes + state.notes
            state.notes = Array(all.prefix(Self.noteLimit))
            state.lostNotes += all.count - state.notes.count
            return state.close(with: error)
        }
        Self.resume(answered, with: .failure(error))
    }

    /// Ends a transaction that wrote nothing, because another gateway has changed a register meanwhile. The calls that
    /// do not depend on registers wait for the next transaction.
    func supersede(keeping notes: [AuditEntry]) {
        let answered = state.withLock { state in
            defer { state.inWriting = [] }
            state.writingSince = nil
            state.notes = notes + state.notes
            state.waiting = state.inWriting.filter { $0.group.basis == nil } + state.waiting
            return state.inWriting.filter { $0.group.basis != nil }
        }
        signal.signal()
        Self.resume(answered, with: .failure(.superseded))
    }

    var outage: Outage? { state.withLock { $0.outage } }

    // MARK: For the write timeout monitor

    /// Refuses all calls if the current transaction, with its wait for the store, takes longer than `limit`. The writer
    /// thread continues: when its transaction succeeds, the log is writable again.
    ///
    /// - Returns: whether this call made the log unwritable.
    func refuseOverdue(_ limit: Duration) -> Bool {
        let answered = state.withLock { state -> [Waiting]? in
            guard let since = state.writingSince, .now - since > limit, state.condition.isWritable else { return nil }
            return state.close(with: .overdue(limit))
        }
        guard let answered else { return false }
        Self.resume(answered, with: .failure(.overdue(limit)))
        return true
    }

    private static func resume(_ answered: [Waiting], with outcome: Outcome) {
        for waiting in answered { waiting.continuation.resume(returning: outcome) }
    }

    // MARK: Closing

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Refuses new calls. The writer thread writes the waiting entries.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.signal()
    }
}

extension AuditQueue {
    struct State {
        var waiting: [Waiting] = []
        var notes: [AuditEntry] = []
        var lostNotes = 0
        var mustProbe = false
        var inWriting: [Waiting] = []
        var writingSince: ContinuousClock.Instant?
        var condition = AuditState.unwritable(.unavailable("It has not been opened yet."))
        var unwritableSince: ContinuousClock.Instant?
        /// Requests refused since `unwritableSince`.
        var refused = 0
        var isClosed = false

        var outage: Outage? {
            guard case .unwritable(let error) = condition, let since = unwritableSince else { return nil }
            return Outage(error: error, duration: .now - since, refused: refused, lostNotes: lostNotes)
        }

        /// - Returns: all waiting calls, including those of the current transaction. The caller must resume them.
        mutating func close(with error: AuditError) -> [Waiting] {
            unwritableSince = unwritableSince ?? .now
            condition = .unwritable(error)
            let answered = inWriting + waiting
            (inWriting, waiting) = ([], [])
            answered.forEach { noteRefused($0) }
            return answered
        }

        mutating func noteRefused(_ waiting: Waiting) {
            refused += waiting.answers
            lostNotes += waiting.group.entries.count - waiting.answers
        }
    }
}

/// Refuses the calls that wait for a write that takes too long. It has its own thread, because any other one may hang.
struct WriteTimeoutMonitor: Sendable {
    /// The time between two checks, so the maximum delay of a refusal after the limit.
    private static let pause = Duration.milliseconds(100)

    let queue: AuditQueue
    let limit: Duration
    private let end = Semaphore()
    private let logger = Logger(label: "privyseal.audit")

    /// - Returns: false when the system has no thread left.
    func start() -> Bool {
        SystemThread.start("privyseal-timer") { [self] in
            while !end.wait(atMost: Self.pause) {
                if queue.refuseOverdue(limit) { logger.critical("Nothing is signed: \(AuditError.overdue(limit))") }
            }
        }
    }

    func stop() { end.signal() }
}

/// Whether the audit log can be written.
public enum AuditState: Hashable, Sendable {
    case writable
    /// The gateway signs nothing. The writer thread retries.
    case unwritable(AuditError)

    public var isWritable: Bool { self == .writable }

    /// `writable` or `unwritable`.
    public var name: String { isWritable ? "writable" : "unwritable" }

    /// Why the log is not writable, as a sentence; nil while it is.
    public var reason: String? {
        switch self {
        case .writable: nil
        case .unwritable(let error): error.description
        }
    }
}

/// Why an audit entry was not recorded. An answer that needs the entry must not be released.
public enum AuditError: Error, Hashable, Sendable {
    /// The log cannot be written. The value is a sentence for the operator.
    case unavailable(String)
    /// The log can be written, and nothing may be signed. The value is a sentence for the operator.
    case halted(String)
    /// A write takes longer than this limit.
    case overdue(Duration)
    /// Another gateway has changed a register since it was read. Nothing was written.
    case superseded
    /// The gateway is stopping.
    case closed
}

extension AuditError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let sentence): "The audit log cannot be written. \(sentence)"
        case .halted(let sentence): sentence
        case .overdue(let limit): "A write to the audit log has been taking longer than \(limit.components.seconds) s."
        case .superseded: "Another gateway has changed the register at the same time."
        case .closed: "The audit log has been closed."
        }
    }
}
