import AuditKit
import SigningKit

extension AuditQueue {
    struct State {
        var waiting: [Waiting] = []
        /// Entries for which no call waits.
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

        mutating func recover() {
            condition = .writable
            unwritableSince = nil
            refused = 0
            lostNotes = 0
        }

        mutating func note(_ entry: AuditEntry) -> Bool {
            // The limit is for outages only: while the log is writable, the writer thread soon removes the notes.
            guard !isClosed, condition.isWritable || notes.count < AuditQueue.noteLimit else {
                lostNotes += 1
                return false
            }
            notes.append(entry)
            return notes.count == 1
        }

        /// Puts notes that were not written before newer ones.
        mutating func restore(_ unwritten: [AuditEntry]) {
            let all = unwritten + notes
            notes = Array(all.prefix(AuditQueue.noteLimit))
            lostNotes += all.count - notes.count
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
            lostNotes += waiting.entries.count - waiting.answers
        }
    }
}
