import Glibc

/// Creates files, and never overwrites one.
enum NewFile {
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard DurableWrite.all(Array(text.utf8), to: descriptor) else { throw failure(path) }
    }

    /// Call before work that would be lost if the file could not be created.
    static func check(_ path: String?) throws {
        guard let path, access(path, F_OK) == 0 else { return }
        throw StandardError.failure("\(path) already exists. Name another file, or move that one away.")
    }

    private static func failure(_ path: String) -> any Error {
        StandardError.failure("\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
}
