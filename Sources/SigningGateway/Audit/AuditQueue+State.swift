import AuditKit
import SigningKit

extension AuditQueue {
    /// What the writer should do.
    enum Readiness {
        case nothing
        /// Somebody waits, and others are about to come.
        case gathering
        case ready
    }

    struct State {
        var waiting: [Waiting] = []
        /// Loops that have brought somebody in the turn that they are at, and may bring more before it ends.
        private var turns: [RequestLoop] = []
        /// Nobody waits for these.
        var notes: [CanonicalEntry] = []
        var lostNotes = 0
        var mustProbe = false
        /// In the transaction that goes on now.
        var inWriting: [Waiting] = []
        var writingSince: ContinuousClock.Instant?
        var condition = AuditState.unwritable(.unavailable("It has not been opened yet."))
        var unwritableSince: ContinuousClock.Instant?
        /// Those that were refused since then.
        var refused = 0
        var isClosed = false

        /// - Returns: whether it is the first that the loop brings in its turn.
        mutating func begin(turnOf loop: RequestLoop) -> Bool {
            guard !turns.contains(where: loop.isSame) else { return false }
            turns.append(loop)
            return true
        }

        mutating func end(turnOf loop: RequestLoop) { turns.removeAll(where: loop.isSame) }

        func readiness(expecting coming: Int) -> Readiness {
            if isClosed || !notes.isEmpty || mustProbe { return .ready }
            if waiting.isEmpty { return .nothing }
            return turns.isEmpty && waiting.count >= coming ? .ready : .gathering
        }

        /// What the outage that goes on has been until now; nil when there is none.
        var outage: Outage? {
            guard case .unwritable(let error) = condition, let since = unwritableSince else { return nil }
            return Outage(error: error, duration: .now - since, refused: refused, lostNotes: lostNotes)
        }

        mutating func recover() {
            condition = .writable
            unwritableSince = nil
            refused = 0
            lostNotes = 0
        }

        mutating func note(_ entry: CanonicalEntry) -> Bool {
            // While the log can be written they are soon gone: only those of an outage could become ever more.
            guard !isClosed, condition.isWritable || notes.count < AuditQueue.noteLimit else {
                lostNotes += 1
                return false
            }
            notes.append(entry)
            return notes.count == 1
        }

        /// Puts back what could not be written, before what has come since.
        mutating func restore(_ unwritten: [CanonicalEntry]) {
            let all = unwritten + notes
            notes = Array(all.prefix(AuditQueue.noteLimit))
            lostNotes += all.count - notes.count
        }

        /// - Returns: all who waited, also in the transaction that goes on; they will not be served.
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
            lostNotes += waiting.entries.count - waiting.answers
        }
    }
}
