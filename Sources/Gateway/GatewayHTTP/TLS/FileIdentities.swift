import Glibc

/// Identifies the versions of files by inode, size and modification time.
struct FileIdentities: Equatable {
    private let marks: [[Int]]

    init(_ paths: [String]) {
        marks = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [
                Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec,
            ]
        }
    }
}
