import AuditKit
import SigningKit

/// Which segments of a log, verified before, may be archived.
struct ArchiveSelection {
    private let reader: any AuditReader
    private let externals: [ExternalCheckpoints]

    /// - Parameter externals: checkpoints from second places.
    init(_ reader: any AuditReader, externals: [ExternalCheckpoints]) {
        self.reader = reader
        self.externals = externals
    }

    /// From the first segment that is left.
    ///
    /// - Parameters:
    ///   - moment: the last entry must be older; nil for any.
    ///   - count: at most; nil for all.
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

    /// Why there is nothing to archive.
    func reason(before moment: Timestamp?) throws(AuditStoreError) -> String {
        let (first, closed) = try bounds()
        guard moment != nil, first < closed else {
            return "there is no segment that is full and covered by a checkpoint."
        }
        let last = AuditSegment.entries(of: first).upperBound - 1
        let time = try time(of: last).map { String(decoding: $0.rfc3339, as: UTF8.self) } ?? "no time"
        return "the first segment that is left ends with entry \(last), which bears \(time). Where a clock was wrong, "
            + "say how much with --segments."
    }

    /// The first segment that is left, and the end of those that are full and covered.
    private func bounds() throws(AuditStoreError) -> (first: Int, closed: Int) {
        let covered = try coveredSize() / AuditSegment.size
        return (try reader.firstIndex() / AuditSegment.size, min(try reader.segmentRoots().count, covered))
    }

    /// What a gateway that starts is asked to show: it must hold all entries since its last segment that every kind of
    /// checkpoint covers.
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
