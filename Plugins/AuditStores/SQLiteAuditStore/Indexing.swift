import AuditKit
import Glibc
import SQLite
import SigningKit

/// Makes the search index beside the writer, segment by segment.
struct Indexing {
    /// Segments that are indexed at a time.
    private static let segmentsPerRun = 4

    let location: LogLocation
    let identity: AuditIdentity
    let shared: SharedWriterState
    /// The roots of the segments in the index; nil until the index was read.
    private(set) var indexed: [Int: [UInt8]]?
    /// Every later run fails.
    var isClosed = false

    mutating func run() throws(AuditStoreError) {
        guard !isClosed else { throw .closed }
        let tables = try shared.connect(to: location.path)
        let roots = try tables.segmentRoots()
        let first = try tables.firstSegment()
        if try FileIdentity(location.index) == nil { indexed = nil }
        if let indexed, indexed.count == roots.count - first,
            indexed.allSatisfy({ isValid($0, roots, first) })
        {
            return
        }
        guard indexed != nil || first < roots.count else { return }
        do throws(SQLiteError) {
            try extend(roots, first, tables)
        } catch {
            indexed = nil
            switch error.code.primary {
            case .corrupt, .notADatabase: removeIndex()
            case .busy, .locked: return
            default: throw AuditStoreError(error, at: location.index)
            }
        }
    }

    private func isValid(_ segment: (key: Int, value: [UInt8]), _ roots: [[UInt8]], _ first: Int) -> Bool {
        segment.key >= first && roots.indices.contains(segment.key) && roots[segment.key] == segment.value
    }

    private mutating func extend(_ roots: [[UInt8]], _ first: Int, _ tables: LogTables) throws(SQLiteError) {
        makeIndexFile()
        guard let writer = try IndexWriter(at: location.index, origin: identity.origin) else { return removeIndex() }
        // Once after the start: nobody looks at the index's pages otherwise.
        if indexed == nil, try !writer.isSound() { return removeIndex() }
        var known = try writer.roots()
        if known.keys.contains(where: { $0 < first }) {
            try writer.remove(segmentsBefore: first)
            known = known.filter { $0.key >= first }
        }
        // Of another log, or of one that was put back.
        guard known.allSatisfy({ isValid($0, roots, first) }) else { return removeIndex() }
        let missing = (first..<max(first, roots.count)).lazy.filter { known[$0] == nil }.prefix(Self.segmentsPerRun)
        for segment in Array(missing) {
            guard let summary = try? summary(of: segment, tables) else { break }
            try writer.add(summary, segment: segment, root: roots[segment])
            known[segment] = roots[segment]
        }
        indexed = known
    }

    private func summary(of segment: Int, _ tables: LogTables) throws(AuditStoreError) -> SegmentSummary {
        var summary = SegmentSummary()
        let begin = segment * AuditSegment.size
        try tables.visit(begin..<begin + AuditSegment.size) { entry in
            summary.add(entry)
            return true
        }
        return summary
    }

    /// For its owner alone: SQLite would let others read it.
    private func makeIndexFile() {
        let descriptor = open(location.index, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// The next run makes it anew.
    private mutating func removeIndex() {
        indexed = nil
        unlink(location.index)
        unlink(location.index + "-journal")
    }
}
