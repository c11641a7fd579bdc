internal import Crypto
internal import Encodings
internal import Glibc

enum ModuleFile {
    /// SHA-256 in hexadecimal; nil if the file cannot be read. The process may have loaded an older version.
    static func digest(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return Hexadecimal.encode(hash.finalize()) }
            hash.update(data: buffer[..<count])
        }
    }
}
