import Glibc

/// A small file, read whole.
enum BoundedFile {
    /// - Parameter limit: in bytes; a longer file is none of ours.
    /// - Throws: a sentence that goes on after the file's name.
    static func read(_ path: String, limit: Int) throws(InvalidValue) -> [UInt8] {
        // A C string would end at the zero, and name another file.
        guard !path.utf8.contains(0) else { throw InvalidValue("has a name that no file can have") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InvalidValue(sentence(for: errno)) }
        defer { close(descriptor) }
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

    private static func unistdRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    }

    private static func sentence(for code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "is not there; check the path"
        case EACCES, EPERM: "cannot be read by the user that the gateway runs as; check its permissions"
        case EISDIR: "is a directory; give a file"
        default: "cannot be read (errno \(code))"
        }
    }
}
