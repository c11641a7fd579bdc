import CLinux
import Glibc

/// The attributes of a file from statx(2), following symbolic links.
struct FileFacts {
    /// File type and permissions.
    let mode: mode_t
    /// In bytes.
    let size: Int
    /// The device number of its file system.
    let device: UInt64

    /// Nil if there is no file.
    init?(_ path: String) {
        var mark = privyseal_file_mark()
        guard privyseal_mark_file(path, &mark) == 0 else { return nil }
        mode = mark.mode
        size = Int(clamping: mark.size)
        device = mark.device
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
}
