import CLinux

/// A file system that loses its files when the machine or the container restarts.
enum VolatileFileSystem: String {
    case tmpfs, ramfs, overlay

    /// Nil for any other file system, and if statfs(2) fails.
    init?(of path: String) {
        var magic: UInt32 = 0
        guard privyseal_file_system(path, &magic) == 0 else { return nil }
        // From <linux/magic.h>.
        switch magic {
        case 0x0102_1994: self = .tmpfs
        case 0x8584_58F6: self = .ramfs
        case 0x794C_7630: self = .overlay
        default: return nil
        }
    }
}
