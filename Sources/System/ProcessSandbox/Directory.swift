import Glibc

/// An open directory.
struct Directory: ~Copyable {
    struct Entry {
        let name: String
        let kind: Kind
    }

    /// The file system may not tell the kind (readdir(3)).
    enum Kind {
        case directory, symbolicLink, other, unknown

        init(_ type: UInt8) {
            switch Int(type) {
            case DT_DIR: self = .directory
            case DT_LNK: self = .symbolicLink
            case DT_UNKNOWN: self = .unknown
            default: self = .other
            }
        }
    }

    private let stream: OpaquePointer

    /// For openat(2).
    let descriptor: Int32

    /// Nil if it cannot be read.
    init?(_ path: String) {
        guard let stream = opendir(path) else { return nil }
        self.stream = stream
        descriptor = dirfd(stream)
    }

    deinit {
        closedir(stream)
    }

    /// - Returns: nil if there are more entries than `limit`, besides `.` and `..`.
    func entries(limit: Int) -> [Entry]? {
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            guard name != ".", name != ".." else { continue }
            guard entries.count < limit else { return nil }
            entries.append(Entry(name: name, kind: Kind(entry.pointee.d_type)))
        }
        return entries
    }
}
