import AuditKit
import CLinux
import Glibc

/// Identifies a file (statx(2)), and tells whether it may be written.
struct FileIdentity: Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let mode: mode_t
    /// In bytes.
    let size: Int

    /// Nil if there is no file.
    init?(_ path: String) throws(AuditStoreError) {
        var mark = privyseal_file_mark()
        let error = privyseal_mark_file(path, &mark)
        if error == ENOENT || error == ENOTDIR { return nil }
        guard error == 0 else { throw .failed("\(path) cannot be examined: \(String(cString: strerror(error))).") }
        device = mark.device
        inode = mark.inode
        mode = mark.mode
        size = Int(clamping: mark.size)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }

    /// The owner's write bit. The kernel does not enforce it for root, but an administrator clears it on purpose.
    var isWritable: Bool { mode & S_IWUSR != 0 }

    func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}
