import Glibc

/// Room that the write-ahead log is given before it needs it: a write into a file that grows costs more than twice as much
/// to synchronize as one into a file that does not, because its size has to be written too.
///
/// SQLite takes what lies behind the last frame for the end of the log, as a frame of zeros has no valid checksum
/// (sqlite.org/fileformat2.html#walformat).
enum LogReserve {
    /// So many commits show that there will be more: a single signature on the command line needs no room.
    static let commits = 32
    static let size = 8 << 20
    /// Not where that would be a good part of the space.
    private static let share = 16
    private static let stride = 1 << 20

    /// With a write transaction open, so that nobody else appends. Where there is no room, nothing is lost but time.
    static func fill(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        var space = statvfs()
        guard fstat(descriptor, &status) == 0, fstatvfs(descriptor, &space) == 0,
            Int(clamping: space.f_bavail) * Int(clamping: space.f_bsize) / share > size
        else { return }
        let zeros = [UInt8](repeating: 0, count: stride)
        var position = Int(status.st_size)
        while position < size {
            let written = pwrite(descriptor, zeros, min(stride, size - position), off_t(position))
            guard written > 0 else { return }
            position += written
        }
        fdatasync(descriptor)
    }
}
