import CStatx

/// A file system whose files are gone after a start of the machine or of the container.
enum PassingFileSystem: String {
    case tmpfs, ramfs, overlay

    /// Nil for every other file system, and for one that the system does not tell (statfs(2)).
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
