import AuditKit
import CStatx
import Glibc

/// What tells a file from every other one (statx(2)), and whether it is meant to be written to.
struct FileMark: Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let mode: mode_t
    /// Bytes.
    let size: Int

    /// Nil where no file is.
    init?(_ path: String) throws(AuditStoreError) {
        var mark = privyseal_file_mark()
        let error = privyseal_mark_file(path, &mark)
        if error == ENOENT || error == ENOTDIR { return nil }
        guard error == 0 else { throw .failed("\(path) cannot be looked at: \(String(cString: strerror(error))).") }
        device = mark.device
        inode = mark.inode
        mode = mark.mode
        size = Int(clamping: mark.size)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }

    /// The owner's bit: root is not held back by it, but who took it away meant something.
    var isWritable: Bool { mode & S_IWUSR != 0 }

    func isSameFile(as other: FileMark) -> Bool { device == other.device && inode == other.inode }
}
