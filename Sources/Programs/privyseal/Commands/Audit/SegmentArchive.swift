import AuditKit
import Glibc
import SigningKit
import TransparencyLog

/// A directory of archived segments: one file for each, with one canonical entry per line.
struct SegmentArchive {
    let directory: String

    private func path(of segment: Int) -> String {
        let digits = String(segment)
        return "\(directory)/segment-\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits).jsonl"
    }

    /// The entries in order; nil if there is no file. The caller must check them.
    func bodies(of segment: Int) throws(AuditStoreError) -> [[UInt8]]? {
        let path = path(of: segment)
        guard access(path, F_OK) == 0 else { return nil }
        do throws(CommandError) { return try Self.bodies(in: path) } catch { throw .failed(error.description) }
    }

    private static func bodies(in path: String) throws(CommandError) -> [[UInt8]] {
        let bytes = try InputFile.contents(ofFile: path)
        // Check the number of lines before allocating an array for each.
        guard bytes.count(where: { $0 == UInt8(ascii: "\n") }) == AuditSegment.size else { return [] }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Text after the last newline is not a line. A cut-off file has too few newlines.
        return lines.dropLast().map(Array.init)
    }

    /// On return, the file is durable and has been read back. It never exists in part. `root` is that of the segment's
    /// subtree in the log.
    func write(_ bodies: [[UInt8]], of segment: Int, root: [UInt8]) throws(CommandError) {
        let path = path(of: segment)
        guard Self.root(of: bodies) == root else {
            throw CommandError("Segment \(segment) of the log has changed.")
        }
        if access(path, F_OK) == 0 {
            guard Self.root(of: try Self.bodies(in: path)) == root else {
                throw CommandError(
                    "\(path) already exists, and holds other entries. Move it away if that is intended.")
            }
            // Its writer may have been stopped before the file was durable.
            try DurableWrite.synchronize(path)
            return try DurableWrite.synchronize(directory, O_DIRECTORY)
        }
        let output = try AuditOutput.open(path)
        for body in bodies { output.write(body + "\n".utf8) }
        try output.finish { (draft) throws(CommandError) in
            guard Self.root(of: try Self.bodies(in: draft)) == root else {
                throw CommandError("\(draft) does not hold what was written to it: check the disk.")
            }
        }
    }

    /// Nil unless the segment is complete.
    private static func root(of bodies: [[UInt8]]) -> [UInt8]? {
        guard bodies.count == AuditSegment.size else { return nil }
        return AppendOnlyTree(leaves: bodies.lazy.map { .leaf($0) }).root.bytes
    }
}

/// Selects the segments of a verified log that may be archived.
struct ArchiveSelection {
    let reader: any AuditReader
    /// The checkpoints kept outside the log.
    let externals: [ExternalCheckpoints]

    /// - Parameters:
    ///   - moment: each segment's last entry must be older; nil for any.
    ///   - count: the most segments, from the first in the database; nil for all.
    func segments(before moment: Timestamp?, count: Int?) throws(AuditStoreError) -> Range<Int> {
        let (first, closed) = try bounds()
        let end = min(closed, count.map { first + min($0, closed) } ?? closed)
        var last = first
        while last < end, try isOlder(last, than: moment) { last += 1 }
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

    /// Whether the segment's last entry is older than `moment`. Any segment is older than nil.
    private func isOlder(_ segment: Int, than moment: Timestamp?) throws(AuditStoreError) -> Bool {
        guard let moment else { return true }
        return try time(of: AuditSegment.entries(of: segment).upperBound - 1).map { $0 < moment } ?? false
    }

    private func time(of index: Int) throws(AuditStoreError) -> Timestamp? {
        try reader.entry(at: index).flatMap { EntryFields($0.body)?.time }
    }
}
