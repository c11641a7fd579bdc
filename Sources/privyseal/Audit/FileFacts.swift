import CStatx
import Glibc

/// What the system says of a file (statx(2)), wherever a symbolic link leads.
struct FileFacts {
    /// Kind and permissions.
    let mode: mode_t
    /// Bytes.
    let size: Int
    /// Of the file system that it is on.
    let device: UInt64

    /// Nil where nothing is.
    init?(_ path: String) {
        var mark = privyseal_file_mark()
        guard privyseal_mark_file(path, &mark) == 0 else { return nil }
        mode = mark.mode
        size = Int(clamping: mark.size)
        device = mark.device
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
}
