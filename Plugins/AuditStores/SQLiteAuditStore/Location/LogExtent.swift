import Glibc
import Synchronization

/// Sees that nobody cuts the write-ahead log off while it is in use, as `> audit.db-wal` does on a disk that is full. SQLite would not
/// notice: it goes on at the place where it was, and what lies before is a hole that nothing can be read from after a restart.
///
/// Its form is that of sqlite.org/fileformat2.html#walformat: a header, and frames of one page each.
final class LogExtent: Sendable {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    private let descriptor: Int32
    /// Bytes that the file had after the last commit.
    private let size = Atomic(0)
    /// Frames that it had then.
    private let frames = Atomic(0)
    /// That its header had then: another one each time that SQLite begins the log anew.
    private let salt = Atomic<UInt64>(0)
    private let wasCutOff = Atomic(false)

    init(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the writer has found.
    var isCutOff: Bool { wasCutOff.load(ordering: .relaxed) }

    /// By the writer, before it writes.
    ///
    /// - Parameter now: the file's size in bytes.
    func willWrite(_ now: Int) {
        // SQLite itself makes it no smaller than this (`journal_size_limit`).
        let least = min(size.load(ordering: .relaxed), Durability.keptLogSize)
        if now < least { wasCutOff.store(true, ordering: .relaxed) }
    }

    /// By the writer, after a commit: the file may have been cut off while that went on.
    ///
    /// - Parameters:
    ///   - now: the file's size in bytes.
    ///   - frames: those that it should have.
    func didCommit(_ now: Int, frames: Int, pageSize: Int) {
        let before = self.frames.exchange(frames, ordering: .relaxed)
        size.store(now, ordering: .relaxed)
        guard frames > 0 else { return }
        let step = Self.frameHeaderSize + pageSize
        // Of those that were there before the commit the last is the first to be cut off; when the log began anew, none is needed.
        let last = before <= frames ? max(before, 1) : 1
        let header = header
        let isShort = now < Self.headerSize + frames * step
        if isShort || header?.magic == 0 || isHole(at: Self.headerSize + (last - 1) * step) {
            wasCutOff.store(true, ordering: .relaxed)
        } else if let header {
            salt.store(header.salt, ordering: .relaxed)
        }
    }

    /// Whether SQLite began the log anew since the last commit, for another process that writes, too: what is left when somebody
    /// cuts the log off has the header that it had, or none.
    var hasBegunAnew: Bool {
        guard let header, header.magic != 0 else { return false }
        return header.salt != salt.load(ordering: .relaxed)
    }

    /// It is shorter because SQLite emptied it.
    func startAnew() {
        size.store(0, ordering: .relaxed)
        frames.store(0, ordering: .relaxed)
        wasCutOff.store(false, ordering: .relaxed)
    }

    /// Nil when it cannot be read; zeros where there is none.
    private var header: (magic: UInt32, salt: UInt64)? {
        var bytes = [UInt8](repeating: 0, count: Self.headerSize)
        guard descriptor >= 0, pread(descriptor, &bytes, bytes.count, 0) >= 0 else { return nil }
        return bytes.withUnsafeBytes {
            ($0.loadUnaligned(as: UInt32.self), $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        }
    }

    /// A frame begins with the number of its page, from 1.
    private func isHole(at position: Int) -> Bool {
        var word: UInt32 = 0
        return descriptor >= 0 && pread(descriptor, &word, 4, off_t(position)) >= 0 && word == 0
    }
}
