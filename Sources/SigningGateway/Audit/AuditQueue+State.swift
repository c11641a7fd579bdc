import AuditKit

extension AuditQueue {
    struct State {
        var waiting: [Waiting] = []
        /// How many have to wait for the writer to be woken.
        var wakeCount = 1
        /// Who went down in the last transaction.
        var lastCount = 0
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

        mutating func recover() {
            condition = .writable
            unwritableSince = nil
            refused = 0
            lostNotes = 0
        }

        /// - Returns: all who waited, also in the transaction that goes on; they will not be served.
        mutating func close(with error: AuditError) -> [Waiting] {
            unwritableSince = unwritableSince ?? .now
            condition = .unwritable(error)
            let answered = inWriting + waiting
            (inWriting, waiting) = ([], [])
            refused += answered.reduce(0) { $0 + $1.entries.count }
            return answered
        }
    }
}
