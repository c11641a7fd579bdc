import AuditKit
import SigningKit
import Synchronization

/// What waits to be written, and who waits for it. Whoever waits is answered once: by the writer when the entries are
/// durable or cannot be written, or by the sentinel when that takes too long.
final class AuditQueue: Sendable {
    typealias Outcome = Result<AuditHead?, AuditError>

    struct Waiting: Sendable {
        let entries: [CanonicalEntry]
        /// Requests that get 503 when these cannot be written; whoever tells of the others goes without an entry.
        var answers: Int
        /// A checkpoint to keep in the same transaction.
        var checkpoint: AuditHead?
        /// Whether something has to be in the log that is younger than the last checkpoint.
        var needsNews = false
        /// What is registered in the same transaction.
        var registrations: [Registration] = []
        /// Where to go on.
        let loop = RequestLoop.current
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    /// What one of the entries registers.
    struct Registration: Sendable {
        /// Among the entries that it came with.
        var position: Int
        let name: String
        let value: [UInt8]
    }

    /// What goes down in one transaction.
    struct Group {
        var entries: [CanonicalEntry] = []
        var notes: [CanonicalEntry] = []
        var checkpoints: [AuditHead] = []
        var registrations: [Registration] = []
        var needsNews = false
        /// Whether it has to be seen that the log can be written.
        var isProbe = false
        var isEmpty: Bool { entries.isEmpty && notes.isEmpty && checkpoints.isEmpty && !needsNews && !isProbe }
    }

    /// What an outage was.
    struct Outage {
        let error: AuditError
        let duration: Duration
        /// Requests that got 503.
        var refused: Int
        /// Events that nobody waited for, and that there was no room for.
        var lostNotes: Int
    }

    /// Events that nobody waits for, while the log cannot be written.
    static let noteLimit = 1024

    private let state = Mutex(State())
    private let bell = WriterBell()
    /// Requests that are being signed, and will bring an entry each.
    private let coming = Atomic(0)

    var condition: AuditState { state.withLock { $0.condition } }

    // MARK: Coming in

    /// Returns when the entries are durable.
    ///
    /// - Parameter answers: requests that get 503 when they cannot be written; nil for as many as there are entries.
    func enter(
        _ entries: [CanonicalEntry], answers: Int? = nil, checkpoint: AuditHead? = nil, needsNews: Bool = false,
        registrations: [Registration] = []
    ) async throws(AuditError) -> AuditHead? {
        try await withUnsafeContinuation { continuation in
            let waiting = Waiting(
                entries: entries, answers: answers ?? entries.count, checkpoint: checkpoint, needsNews: needsNews,
                registrations: registrations,
                continuation: continuation)
            let (refusal, isFirst) = state.withLock { state -> (AuditError?, Bool) in
                if state.isClosed { return (.closed, false) }
                if case .unwritable(let error) = state.condition {
                    state.noteRefused(waiting)
                    return (error, false)
                }
                state.waiting.append(waiting)
                return (nil, waiting.loop.map { state.begin(turnOf: $0) } ?? true)
            }
            if let refusal { return continuation.resume(returning: .failure(refusal)) }
            guard isFirst else { return }
            if let loop = waiting.loop { loop.afterTurn { self.wake(endingTurnOf: loop) } } else { wake() }
        }.get()
    }

    /// Somebody signs what will be recorded: entries may wait for it for a while, so that they go down together.
    func expect() { coming.wrappingAdd(1, ordering: .relaxed) }

    /// It is signed, and its entry comes next.
    func noteSigned() { coming.wrappingSubtract(1, ordering: .relaxed) }

    /// There will be no entry.
    func expectNoMore() {
        coming.wrappingSubtract(1, ordering: .relaxed)
        wake()
    }

    /// For what nobody waits for. Kept while the log cannot be written, up to a limit.
    func note(_ entry: CanonicalEntry) {
        if state.withLock({ $0.note(entry) }) { bell.ring() }
    }

    /// Something looks wrong with the store: the writer shall see for itself.
    func probe() {
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.condition.isWritable, !state.mustProbe else { return false }
            state.mustProbe = true
            return true
        }
        if isFirst { bell.ring() }
    }

    /// A request was refused before it came this far.
    func noteRefused() { state.withLock { $0.refused += 1 } }

    // MARK: For the writer

    /// Waits until there is something to write that should be written now, or until `limit` is over.
    ///
    /// While loops are at turns in which they brought somebody and may bring more, and while more are being signed than wait,
    /// whoever waits goes on waiting, though not for longer than `patience`.
    func wait(atMost limit: Duration, patience: Duration) {
        if readiness == .nothing { bell.wait(atMost: limit, for: .anything) { readiness != .nothing } }
        if readiness == .gathering { bell.wait(atMost: patience, for: .group) { readiness == .ready } }
    }

    /// Waits while the log cannot be written.
    func pause(_ limit: Duration) { bell.wait(atMost: limit, for: .group) { isClosed } }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    var readiness: Readiness { state.withLock { $0.readiness(expecting: coming.load(ordering: .relaxed)) } }

    /// - Parameter loop: one that has brought all that it had at hand.
    private func wake(endingTurnOf loop: RequestLoop? = nil) {
        let readiness = state.withLock { state in
            if let loop { state.end(turnOf: loop) }
            return state.readiness(expecting: coming.load(ordering: .relaxed))
        }
        switch readiness {
        case .nothing: return
        case .gathering: bell.ring(for: .anything)
        case .ready: bell.ring()
        }
    }

    /// Everything that waits; it is in writing from now on.
    func take() -> Group {
        state.withLock { state in
            var group = Group()
            group.isProbe = state.mustProbe
            state.mustProbe = false
            group.notes = state.notes
            state.notes = []
            state.inWriting = state.waiting
            state.waiting = []
            state.waiting.reserveCapacity(state.inWriting.count)
            group.entries.reserveCapacity(state.inWriting.count)
            for waiting in state.inWriting {
                for var registration in waiting.registrations {
                    registration.position += group.entries.count
                    group.registrations.append(registration)
                }
                group.entries += waiting.entries
                if let checkpoint = waiting.checkpoint { group.checkpoints.append(checkpoint) }
                group.needsNews = group.needsNews || waiting.needsNews
            }
            state.writingSince = .now
            return group
        }
    }

    var hasNotes: Bool { state.withLock { !$0.notes.isEmpty } }

    /// The transaction has ended well.
    ///
    /// - Parameters:
    ///   - isTurn: whether there was one; else there was nothing to write.
    ///   - told: the outage that it tells of.
    /// - Returns: an outage that ends with it, as far as nobody was told of it yet.
    @discardableResult
    func succeed(_ head: AuditHead?, isTurn: Bool, telling told: Outage? = nil) -> Outage? {
        let (answered, untold) = state.withLock { state in
            defer { state.inWriting = [] }
            state.writingSince = nil
            var untold = isTurn ? state.outage : nil
            if isTurn { state.recover() }
            if let told, var rest = untold {
                // Whoever came while it was being told of.
                rest.refused -= told.refused
                rest.lostNotes -= told.lostNotes
                untold = rest.refused > 0 || rest.lostNotes > 0 ? rest : nil
            }
            return (state.inWriting, untold)
        }
        Self.resume(answered, with: .success(head))
        return untold
    }

    /// The transaction has ended without effect. Everybody who waits is refused, and everybody who comes until it succeeds.
    func fail(_ error: AuditError, keeping notes: [CanonicalEntry]) {
        let answered = state.withLock { state in
            state.writingSince = nil
            state.restore(notes)
            return state.close(with: error)
        }
        Self.resume(answered, with: .failure(error))
    }

    var outage: Outage? { state.withLock { $0.outage } }

    // MARK: For the sentinel

    /// Refuses everybody when a transaction, or the wait for one, has been going on for longer than `limit`. The writer
    /// goes on: when it comes back, so does the log.
    ///
    /// - Returns: whether it was the moment when that began.
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
        RequestLoop.resume(answered, from: \.loop) { waiting in
            for one in waiting { one.continuation.resume(returning: outcome) }
        }
    }

    // MARK: The end

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Nobody comes in any more; the writer writes what is there.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
    }
}
