import AuditKit
import Dispatch
import SigningKit
import Synchronization

/// What waits to be written, and who waits for it. Whoever waits is answered once: by the writer when the entries are
/// durable or cannot be written, or by the sentinel when that takes too long.
final class AuditQueue: Sendable {
    typealias Outcome = Result<AuditHead?, AuditError>

    struct Waiting: Sendable {
        let entries: [CanonicalEntry]
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

    /// Events that nobody waits for, while the log cannot be written.
    private static let noteLimit = 1024

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)

    var condition: AuditState { state.withLock { $0.condition } }

    // MARK: Coming in

    /// Returns when the entries are durable.
    func enter(
        _ entries: [CanonicalEntry], checkpoint: AuditHead? = nil, needsNews: Bool = false,
        registrations: [Registration] = []
    ) async throws(AuditError) -> AuditHead? {
        try await withUnsafeContinuation { continuation in
            let waiting = Waiting(
                entries: entries, checkpoint: checkpoint, needsNews: needsNews, registrations: registrations,
                continuation: continuation)
            let (refusal, mustWake) = state.withLock { state -> (AuditError?, Bool) in
                if state.isClosed { return (.closed, false) }
                if case .unwritable(let error) = state.condition {
                    state.refused += entries.count
                    return (error, false)
                }
                state.waiting.append(waiting)
                return (nil, state.waiting.count == state.wakeCount && state.writingSince == nil)
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) } else if mustWake { bell.signal() }
        }.get()
    }

    /// For what nobody waits for. Kept while the log cannot be written, up to a limit.
    func note(_ entry: CanonicalEntry) {
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.notes.count < Self.noteLimit else {
                state.lostNotes += 1
                return false
            }
            state.notes.append(entry)
            return state.notes.count == 1 && state.waiting.isEmpty && state.writingSince == nil
        }
        if isFirst { bell.signal() }
    }

    /// Something looks wrong with the store: the writer shall see for itself.
    func probe() {
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.condition.isWritable, !state.mustProbe else { return false }
            state.mustProbe = true
            return state.waiting.isEmpty && state.writingSince == nil
        }
        if isFirst { bell.signal() }
    }

    /// A request was refused before it came this far.
    func noteRefused() { state.withLock { $0.refused += 1 } }

    // MARK: For the writer

    /// Waits until there is something to write, or until `patience` is over.
    func wait(atMost patience: Duration) { _ = bell.wait(timeout: .now() + patience.dispatch) }

    var count: Int { state.withLock { $0.waiting.count } }

    /// Waits until `plenty` wait, or until it has been quiet for a while, or until `patience` is over. While only a few come,
    /// fewer than `few` now and before, nobody is kept waiting.
    func gather(_ plenty: Int, few: Int, quiet: Duration, patience: Duration) {
        let count = state.withLock { state -> Int in
            guard max(state.waiting.count, state.lastCount) >= few else { return 0 }
            state.wakeCount = plenty
            return state.waiting.count
        }
        guard count > 0 else { return }
        let deadline = ContinuousClock.now + patience
        var known = 0
        var present = count
        while present > known, present < plenty, .now < deadline {
            known = present
            wait(atMost: quiet)
            present = self.count
        }
    }

    /// Everything that waits; it is in writing from now on.
    func take() -> Group {
        state.withLock { state in
            state.wakeCount = 1
            state.lastCount = state.waiting.count
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
    /// - Parameter isTurn: whether there was one; else there was nothing to write.
    func succeed(_ head: AuditHead?, isTurn: Bool) {
        let (answered, isEmpty) = state.withLock { state in
            defer { state.inWriting = [] }
            state.writingSince = nil
            if isTurn { state.recover() }
            return (state.inWriting, state.waiting.isEmpty && state.notes.isEmpty && !state.mustProbe)
        }
        Self.resume(answered, with: .success(head))
        if !isEmpty { bell.signal() }
    }

    /// The transaction has ended without effect. Everybody who waits is refused, and everybody who comes until it succeeds.
    func fail(_ error: AuditError, keeping notes: [CanonicalEntry]) {
        let answered = state.withLock { state in
            state.writingSince = nil
            state.notes.insert(contentsOf: notes.prefix(Self.noteLimit), at: 0)
            return state.close(with: error)
        }
        Self.resume(answered, with: .failure(error))
    }

    /// What an outage that ends now was; nil when there was none.
    func outage() -> (error: AuditError, duration: Duration, refused: Int, lostNotes: Int)? {
        state.withLock { state in
            guard case .unwritable(let error) = state.condition, let since = state.unwritableSince else { return nil }
            return (error, .now - since, state.refused, state.lostNotes)
        }
    }

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
        bell.signal()
    }
}

extension Duration {
    var dispatch: DispatchTimeInterval {
        let parts = components
        return .nanoseconds(Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000))
    }
}
