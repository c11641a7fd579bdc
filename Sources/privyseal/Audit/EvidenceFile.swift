import Glibc

/// Files that a verification is based on.
enum EvidenceFile {
    /// Bytes that are kept in memory: some two million checkpoints from a pipe, or an archived segment with entries of 64 KiB each.
    private static let maximumSize = 1 << 29

    static func contents(of path: String) throws(AuditSetupError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(path, first: maximumSize + 1) { bytes += $0 }
        guard bytes.count <= maximumSize else { throw AuditSetupError("\(path) is longer than \(maximumSize) bytes.") }
        return bytes
    }

    /// Of nothing else than a file: from a pipe might come nothing, for ever.
    static func contents(ofFile path: String) throws(AuditSetupError) -> [UInt8] {
        guard access(path, F_OK) == 0 else { throw refusal(path) }
        guard FileFacts(path)?.isRegular == true else { throw AuditSetupError("\(path) is no file.") }
        return try contents(of: path)
    }

    static let pieceSize = 1 << 16

    /// Piece by piece.
    ///
    /// - Parameter limit: bytes, from the first; nil for all.
    static func read(
        _ path: String, first limit: Int? = nil, _ visit: (ArraySlice<UInt8>) -> Void
    ) throws(AuditSetupError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        var total = 0
        while true {
            let wanted = min(pieceSize, limit.map { $0 - total } ?? pieceSize)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, wanted) }
            if count == 0 { return }
            guard count > 0 || errno == EINTR else { throw refusal(path) }
            total += max(0, count)
            visit(buffer[..<max(0, count)])
        }
    }

    private static func refusal(_ path: String) -> AuditSetupError {
        AuditSetupError("\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
