import AuditKit
import SigningKit
import Synchronization

/// Counts requests that were refused before signing, by client and minute: a flood of them costs one entry.
final class RefusalTally: Sendable {
    private struct Row: Hashable {
        let client: String?
        let minute: Int64
    }

    private let rows = Mutex<[Row: [String: Int]]>([:])

    func count(_ reason: String, client: String?, at time: Timestamp) {
        let row = Row(client: client, minute: time.seconds / 60)
        rows.withLock { $0[row, default: [:]][reason, default: 0] += 1 }
    }

    /// Takes the counts of completed minutes, the earliest first.
    ///
    /// - Parameter isLast: whether to take the counts of the current minute, too.
    /// - Returns: entries with the times of the counted minutes, so that they belong to the right hour, day and month.
    func take(at now: Timestamp, isLast: Bool = false) -> [AuditEntry] {
        let current = now.seconds / 60
        let taken = rows.withLock { rows in
            let taken = rows.filter { isLast || $0.key.minute != current }
            for row in taken.keys { rows[row] = nil }
            return taken
        }
        return taken.sorted { ($0.key.minute, $0.key.client ?? "") < ($1.key.minute, $1.key.client ?? "") }
            .map { row, counts in
                let begin = Timestamp(milliseconds: row.minute * 60_000)
                let end = Timestamp(milliseconds: begin.milliseconds + 59_999)
                return AuditEntry(.refusals(client: row.client, minute: begin, counts: counts), at: min(now, end))
            }
    }
}
