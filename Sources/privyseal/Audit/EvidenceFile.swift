import Glibc

/// Files that a verification is based on, read whole.
enum EvidenceFile {
    /// Bytes: some two million checkpoints, or an archived segment with entries of 64 KiB each.
    private static let maximumSize = 1 << 29

    static func contents(of path: String) throws(AuditSetupError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 || errno == EINTR else { throw refusal(path) }
            bytes += buffer[..<max(0, count)]
            guard bytes.count <= maximumSize else {
                throw AuditSetupError("\(path) is longer than \(maximumSize) bytes.")
            }
        }
    }

    private static func refusal(_ path: String) -> AuditSetupError {
        AuditSetupError("\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
