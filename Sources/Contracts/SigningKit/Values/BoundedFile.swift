import Glibc

/// Reads whole files of limited length.
public enum BoundedFile {
    public enum Failure: Error, Equatable {
        /// The error code of open(2), fstat(2) or read(2).
        case system(Int32)
        case directory
        /// The file is a FIFO, a socket or a device.
        case notRegular
        case tooLong
    }

    /// Reads into a single buffer, so that a caller who wipes the result leaves no copy of a secret.
    ///
    /// - Parameters:
    ///   - limit: in bytes.
    ///   - mayBePipe: whether to read a FIFO or a device, too. The call then waits until another process writes to it.
    ///   - followsLinks: whether the last component of the path may be a symbolic link.
    public static func read(
        _ path: String, limit: Int, mayBePipe: Bool = false, followsLinks: Bool = true
    ) throws(Failure) -> [UInt8] {
        // O_NONBLOCK: without it, opening a FIFO waits until another process opens it for writing (fifo(7)).
        let flags = (mayBePipe ? 0 : O_NONBLOCK) | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        if !mayBePipe { try requireRegularFile(descriptor) }
        var failure: Int32?
        // A further byte shows that the file is too long.
        let bytes = [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
            let read = fill(UnsafeMutableRawBufferPointer(buffer), from: descriptor)
            if read == nil { failure = errno }
            count = read ?? 0
        }
        if let failure { throw .system(failure) }
        guard bytes.count <= limit else { throw .tooLong }
        return bytes
    }

    /// Reads until the end of the file or of the room.
    ///
    /// - Returns: the number of bytes; nil if read(2) failed, and `errno` then has the reason.
    public static func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Int? {
        var count = 0
        while count < room.count {
            let result = Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { return nil }
            if result == 0 { break }
            count += result
        }
        return count
    }

    private static func requireRegularFile(_ descriptor: Int32) throws(Failure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .directory
        default: throw .notRegular
        }
    }
}
