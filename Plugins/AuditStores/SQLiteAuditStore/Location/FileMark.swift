import AuditKit
import Glibc

/// What tells a file from every other one (stat(2)), and whether it is meant to be written to.
struct FileMark: Sendable {
    private let device: UInt
    private let inode: UInt
    private let mode: mode_t
    /// Bytes.
    let size: Int

    /// Nil where no file is.
    init?(_ path: String) throws(AuditStoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = errno
            if error == ENOENT || error == ENOTDIR { return nil }
            throw .failed("\(path) cannot be looked at: \(String(cString: strerror(error))).")
        }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        mode = status.st_mode
        size = Int(status.st_size)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }

    /// The owner's bit: root is not held back by it, but who took it away meant something.
    var isWritable: Bool { mode & S_IWUSR != 0 }

    func isSameFile(as other: FileMark) -> Bool { device == other.device && inode == other.inode }
}
