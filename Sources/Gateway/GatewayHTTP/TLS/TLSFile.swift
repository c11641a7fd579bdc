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

/// Why a listener's TLS files cannot be used. Messages name the file and the remedy, and contain nothing of a key.
public enum TLSError: Error, Equatable, CustomStringConvertible {
    /// Missing, not readable, or not PEM.
    case unreadable(path: String)
    /// Not a regular file, or longer than `TLSFile.limit`.
    case unfit(path: String)
    /// Contains no certificate.
    case empty(path: String)
    /// More trust roots than `TLSMaterial.rootLimit`.
    case tooManyRoots(path: String, count: Int)
    /// The key does not belong to the certificate, or TLS does not support its kind.
    case unusable(certificate: String, key: String)

    public var description: String {
        switch self {
        case .unreadable(let path):
            "\(path) cannot be read, or is not PEM; check the path, its permissions and its content."
        case .unfit(let path):
            "\(path) is not a regular file of at most \(TLSFile.limit >> 20) MiB; give a file in PEM."
        case .empty(let path): "\(path) holds no certificate; give certificates in PEM."
        case .tooManyRoots(let path, let count):
            "\(path) holds \(count) different certificates, and at most \(TLSMaterial.rootLimit) may vouch for clients; "
                + "remove those that no client needs."
        case .unusable(let certificate, let key):
            "The key in \(key) does not belong to the first certificate in \(certificate), or TLS cannot use it."
        }
    }
}
