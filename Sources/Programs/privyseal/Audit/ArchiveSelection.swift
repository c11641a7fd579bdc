import AuditKit
import SigningKit

/// Selects the segments of a verified log that may be archived.
struct ArchiveSelection {
    private let reader: any AuditReader
    private let externals: [ExternalCheckpoints]

    /// - Parameter externals: the checkpoints kept outside the log.
    init(_ reader: any AuditReader, externals: [ExternalCheckpoints]) {
        self.reader = reader
        self.externals = externals
    }

    /// - Parameters:
    ///   - moment: each segment's last entry must be older; nil for any.
    ///   - count: the most segments, from the first in the database; nil for all.
    func segments(before moment: Timestamp?, count: Int?) throws(AuditStoreError) -> Range<Int> {
        let (first, closed) = try bounds()
        let end = min(closed, count.map { first + min($0, closed) } ?? closed)
        var last = first
        while last < end, try moment.map({ moment throws(AuditStoreError) in try isOlder(last, than: moment) }) ?? true
        {
            last += 1
        }
        return first..<last
    }

    func reason(before moment: Timestamp?) throws(AuditStoreError) -> String {
        let (first, closed) = try bounds()
        guard moment != nil, first < closed else {
            return "no segment is full and covered by a checkpoint."
        }
        let last = AuditSegment.entries(of: first).upperBound - 1
        let time = try time(of: last).map { $0.text } ?? "no time"
        return "the first segment that is left ends with entry \(last), whose time is \(time). If a clock was wrong, "
            + "give the number of segments with --segments."
    }

    /// The first segment in the database, and the end of the segments that are full and covered by checkpoints.
    private func bounds() throws(AuditStoreError) -> (first: Int, closed: Int) {
        let covered = try coveredSize() / AuditSegment.size
        return (try reader.firstIndex() / AuditSegment.size, min(try reader.segmentRoots().count, covered))
    }

    /// The size that both the log's own and the external checkpoints cover. To verify them, a starting gateway needs
    /// all entries after the last segment that both cover.
    private func coveredSize() throws(AuditStoreError) -> Int {
        let kept = try reader.checkpoints().map(\.size).max() ?? 0
        let outside = externals.compactMap(\.largestSize).max()
        return min(kept, outside ?? kept)
    }

    private func isOlder(_ segment: Int, than moment: Timestamp) throws(AuditStoreError) -> Bool {
        try time(of: AuditSegment.entries(of: segment).upperBound - 1).map { $0 < moment } ?? false
    }

    private func time(of index: Int) throws(AuditStoreError) -> Timestamp? {
        var time: Timestamp?
        try reader.entries(in: index..<index + 1) { entry in
            time = EntryFields(entry.body)?.time
            return false
        }
        return time
    }
}
