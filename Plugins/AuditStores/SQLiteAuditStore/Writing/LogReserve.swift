import Glibc

/// Room that the write-ahead log is given before it needs it: a write into a file that grows costs more than twice as much
/// to synchronize as one into a file that does not, because its size has to be written too.
///
/// SQLite takes what lies behind the last frame for the end of the log, as a frame of zeros has no valid checksum
/// (sqlite.org/fileformat2.html#walformat).
struct LogReserve {
    /// So many commits show that there will be more: a single signature on the command line needs no room.
    private static let commits = 32
    /// Bytes that are added at a time.
    private static let step = 8 << 20
    /// What is left of the room when more is added.
    private static let margin = 1 << 20
    /// Not where that would be a good part of the space.
    private static let share = 16
    private static let stride = 1 << 20

    private let path: String
    private var commits = 0
    private var size = 0
    private var isExhausted = false

    init(_ path: String) {
        self.path = path
    }

    /// With a write transaction open, so that nobody else appends.
    ///
    /// - Parameter used: bytes in the log.
    mutating func provide(for used: Int) {
        commits += 1
        guard !isExhausted, commits >= Self.commits, used + Self.margin > size, size < Durability.keptLogSize else {
            return
        }
        size = min(max(size, used) + Self.step, Durability.keptLogSize)
        // Where there is no room, nothing is lost but time.
        isExhausted = !Self.fill(path, upTo: size)
    }

    private static func fill(_ path: String, upTo size: Int) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        var space = statvfs()
        guard fstat(descriptor, &status) == 0, fstatvfs(descriptor, &space) == 0,
            Int(clamping: space.f_bavail) / share > size / max(1, Int(clamping: space.f_frsize))
        else { return false }
        let zeros = [UInt8](repeating: 0, count: stride)
        var position = Int(status.st_size)
        while position < size {
            let written = pwrite(descriptor, zeros, min(stride, size - position), off_t(position))
            guard written > 0 else { return false }
            position += written
        }
        return fdatasync(descriptor) == 0
    }
}
