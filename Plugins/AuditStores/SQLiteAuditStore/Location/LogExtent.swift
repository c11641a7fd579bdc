import AuditKit
import Glibc
import SQLite
import Synchronization

/// Sees that nobody cuts the write-ahead log off while it is in use, as `> audit.db-wal` does on a disk that is full. SQLite would not
/// notice: it goes on at the place where it was, and what lies before is a hole that nothing can be read from after a restart.
///
/// The log's form is that of sqlite.org/fileformat2.html#walformat: a header, and frames of one page each. What should be in it
/// its index says, which SQLite writes after the log: so it may be emptied and begun anew by other processes as well.
final class LogExtent: Sendable {
    private static let headerSize = 32
    /// Where the salt stands in it.
    private static let saltOffset = 16
    private static let frameHeaderSize = 24
    private static let frameSaltOffset = 8
    /// Another process cannot change the index that often while one looks.
    private static let attempts = 64

    private let descriptor: Int32
    /// As it was when all of it was there.
    private let seen = Mutex<LogIndex?>(nil)
    private let wasCutOff = Atomic(false)

    init(_ path: String) throws(AuditStoreError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .failed("\(path) cannot be opened: \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(descriptor) }

    /// Whether something was missing once.
    var isCutOff: Bool { wasCutOff.load(ordering: .relaxed) }

    /// By the writer, before it writes and after a commit: the log may have been cut off while that went on.
    ///
    /// - Parameter index: reads it.
    func look(at index: () -> LogIndex?) {
        for _ in 0..<Self.attempts {
            guard let now = index() else { continue }
            if holds(now) { return seen.withLock { $0 = now } }
            // Unless somebody began the log anew meanwhile.
            if index() == now { return wasCutOff.store(true, ordering: .relaxed) }
        }
    }

    private func holds(_ index: LogIndex) -> Bool {
        guard index.frames > 0 else { return true }
        var first = 1
        if let seen = seen.withLock({ $0 }), seen.salt == index.salt {
            // An index that was made anew from what was left says less than before.
            guard seen.frames <= index.frames else { return false }
            // Of those that were there the last is the first to be cut off.
            first = max(seen.frames, 1)
        }
        let step = Self.frameHeaderSize + index.pageSize
        return isAsLong(as: Self.headerSize + index.frames * step) && has(index.salt, at: Self.saltOffset)
            && (first...index.frames).allSatisfy {
                has(index.salt, at: Self.headerSize + ($0 - 1) * step + Self.frameSaltOffset)
            }
    }

    // What cannot be read now is not missing for that: what is wrong with the disk the commit says.

    private func isAsLong(as size: Int) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || Int(status.st_size) >= size
    }

    private func has(_ salt: UInt64, at position: Int) -> Bool {
        var found: UInt64 = 0
        let count = pread(descriptor, &found, 8, off_t(position))
        return count < 0 || count == 8 && found == salt
    }
}
