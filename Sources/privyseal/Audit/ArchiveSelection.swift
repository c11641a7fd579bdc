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
        let first = try reader.firstIndex() / AuditSegment.size
        let closed = min(try reader.segmentRoots().count, try coveredSize() / AuditSegment.size)
        let end = min(closed, count.map { first + min($0, closed) } ?? closed)
        var last = first
        while last < end, try moment.map({ moment throws(AuditStoreError) in try isOlder(last, than: moment) }) ?? true
        {
            last += 1
        }
        return first..<last
    }

    /// What a gateway that starts is asked to show: it must hold all entries since its last segment that every kind of
    /// checkpoint covers.
    private func coveredSize() throws(AuditStoreError) -> Int {
        let kept = try reader.checkpoints().map(\.size).max() ?? 0
        let outside = externals.compactMap(\.largestSize).max()
        return min(kept, outside ?? kept)
    }

    private func isOlder(_ segment: Int, than moment: Timestamp) throws(AuditStoreError) -> Bool {
        let last = AuditSegment.entries(of: segment).upperBound - 1
        var time: Timestamp?
        try reader.entries(in: last..<last + 1) { entry in
            time = EntryFields(entry.body)?.time
            return false
        }
        return time.map { $0 < moment } ?? false
    }
}
