import Glibc

enum BoundedFile {
    /// - Parameters:
    ///   - limit: In bytes. A longer file is an error.
    ///   - mayBePipe: Whether to read a FIFO or a device, too. The call then blocks until another process writes to it.
    /// - Throws: A text that continues a sentence after the file's name.
    static func read(_ path: String, limit: Int, mayBePipe: Bool = false) throws(InvalidValue) -> [UInt8] {
        // A C string ends at the zero byte, so open(2) would open another file.
        guard !path.utf8.contains(0) else { throw InvalidValue("has a NUL byte in its path") }
        // O_NONBLOCK: without it, opening a FIFO waits until another process opens it for writing (fifo(7)).
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (mayBePipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw InvalidValue(sentence(for: errno)) }
        defer { close(descriptor) }
        if !mayBePipe { try requireRegularFile(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= limit {
            let count = chunk.withUnsafeMutableBytes { unistdRead(descriptor, $0) }
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno != EINTR {
                throw InvalidValue(sentence(for: errno))
            }
        }
        throw InvalidValue("has more than \(limit) bytes; check the path")
    }

    private static func requireRegularFile(_ descriptor: Int32) throws(InvalidValue) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw InvalidValue(sentence(for: errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw InvalidValue(sentence(for: EISDIR))
        default: throw InvalidValue(sentence(for: ENXIO))
        }
    }

    private static func unistdRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    }

    private static func sentence(for code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "does not exist; check the path"
        case EACCES, EPERM: "cannot be read by the user that the gateway runs as; check its permissions"
        case EISDIR: "is a directory; give a file"
        // open(2) returns ENXIO for a socket.
        case ENXIO: "is not a regular file; give a file, not a FIFO, socket or device"
        default: "cannot be read (errno \(code))"
        }
    }
}
