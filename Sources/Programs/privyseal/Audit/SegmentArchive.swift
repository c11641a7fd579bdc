import AuditKit
import Glibc
import TransparencyLog

/// A directory of archived segments: one file for each, with one canonical entry per line.
struct SegmentArchive {
    private let directory: String

    init(_ directory: String) {
        self.directory = directory
    }

    private func path(of segment: Int) -> String {
        let digits = String(segment)
        return "\(directory)/segment-\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits).jsonl"
    }

    /// The entries in order; nil if there is no file. The caller must check them.
    func bodies(of segment: Int) throws(AuditStoreError) -> [[UInt8]]? {
        let path = path(of: segment)
        guard access(path, F_OK) == 0 else { return nil }
        do throws(AuditSetupError) {
            return try Self.bodies(in: path)
        } catch {
            throw .failed(error.description)
        }
    }

    private static func bodies(in path: String) throws(AuditSetupError) -> [[UInt8]] {
        let bytes = try EvidenceFile.contents(ofFile: path)
        // Check the number of lines before allocating an array for each.
        guard bytes.count(where: { $0 == UInt8(ascii: "\n") }) == AuditSegment.size else { return [] }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Text after the last newline is not a line. A cut-off file has too few newlines.
        return lines.dropLast().map(Array.init)
    }

    /// On return, the file is durable and has been read back. It never exists in part. `root` is that of the segment's
    /// subtree in the log.
    func write(_ bodies: [[UInt8]], of segment: Int, root: [UInt8]) throws(AuditSetupError) {
        let path = path(of: segment)
        guard Self.root(of: bodies) == root else {
            throw AuditSetupError("Segment \(segment) of the log has changed.")
        }
        if access(path, F_OK) == 0 {
            guard Self.root(of: try Self.bodies(in: path)) == root else {
                throw AuditSetupError(
                    "\(path) already exists, and holds other entries. Move it away if that is intended.")
            }
            // Its writer may have been stopped before the file was durable.
            try DurableWrite.synchronize(path)
            return try DurableWrite.synchronize(directory, O_DIRECTORY)
        }
        let draft = path + ".part"
        unlink(draft)
        defer { unlink(draft) }
        let output = try AuditOutput.openDraft(draft)
        for body in bodies { output.write(body + "\n".utf8) }
        try output.finish()
        guard Self.root(of: try Self.bodies(in: draft)) == root else {
            throw AuditSetupError("\(draft) does not hold what was written to it: check the disk.")
        }
        // Unlike rename(2), link(2) replaces no file.
        guard link(draft, path) == 0 else {
            throw AuditSetupError("\(path) cannot be made: \(String(cString: strerror(errno))).")
        }
        try DurableWrite.synchronize(directory, O_DIRECTORY)
    }

    /// Nil unless the segment is complete.
    private static func root(of bodies: [[UInt8]]) -> [UInt8]? {
        guard bodies.count == AuditSegment.size else { return nil }
        return AppendOnlyTree(leaves: bodies.lazy.map { .leaf($0) }).root.bytes
    }
}
