import Glibc

/// Reads a whole certificate or key file. It never blocks on a FIFO.
enum TLSFile {
    /// In bytes.
    static let limit = 1 << 20

    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO waits for a writer (fifo(7)).
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { throw .unfit(path: path) }
        // One buffer, so that no copy of a key remains in memory. The extra byte shows whether the file has grown.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if result == 0 { break }
            if result > 0 { count += result } else if errno != EINTR { throw .unreadable(path: path) }
        }
        guard count < bytes.count else { throw .unreadable(path: path) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
