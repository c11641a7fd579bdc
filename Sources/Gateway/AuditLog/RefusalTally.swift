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
        let row = Row(client: client, minute: Self.minute(of: time))
        rows.withLock { $0[row, default: [:]][reason, default: 0] += 1 }
    }

    /// Takes the counts of completed minutes, the earliest first.
    func takeFinished(at time: Timestamp) -> [RefusalCounts] {
        let current = Self.minute(of: time)
        return take { $0.minute != current }
    }

    func take() -> [RefusalCounts] { take { _ in true } }

    private func take(where isWanted: (Row) -> Bool) -> [RefusalCounts] {
        let taken = rows.withLock { rows in
            guard !rows.isEmpty else { return rows }
            let taken = rows.filter { isWanted($0.key) }
            rows = rows.filter { !isWanted($0.key) }
            return taken
        }
        return taken.sorted { ($0.key.minute, $0.key.client ?? "") < ($1.key.minute, $1.key.client ?? "") }
            .map { row, counts in
                RefusalCounts(
                    client: row.client, minute: Timestamp(milliseconds: row.minute * 60_000), counts: counts)
            }
    }

    private static func minute(of time: Timestamp) -> Int64 { time.seconds / 60 }
}
