import Foundation
import Glibc

/// Reads and writes files in the directory of drill records.
enum RecordFile {
    /// The maximum size of a file to read, in bytes. The record of a one-day drill has about 100 KiB.
    static let longest = 1 << 24

    // MARK: Reading

    /// - Returns: Nil if there is no such file.
    /// - Throws: `DrillError` if the file is not regular, is longer than `longest`, or cannot be read.
    static func contents(of path: String) throws(DrillError) -> [UInt8]? {
        // O_NONBLOCK: open() must not wait for the writer of a FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw refusal(path, "read")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw refusal(path, "read") }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw DrillError("\(path) is not a regular file.") }
        guard facts.st_size <= longest else { throw tooLong(path) }
        let bytes: Data
        do { bytes = try file.read(upToCount: longest + 1) ?? Data() } catch { throw refusal(path, "read") }
        // The file may have grown.
        guard bytes.count <= longest else { throw tooLong(path) }
        return Array(bytes)
    }

    // MARK: Writing

    /// Creates the directory if needed, and writes a test file there.
    static func prepare(_ directory: String) throws(DrillError) {
        for end in directory.indices.dropFirst() + [directory.endIndex]
        where end == directory.endIndex || directory[end] == "/" {
            let parent = String(directory[..<end])
            guard mkdir(parent, 0o750) == 0 || errno == EEXIST else { throw refusal(parent, "made") }
        }
        let path = "\(directory)/.trial-\(getpid())"
        try write(Array("trial\n".utf8), to: path)
        unlink(path)
    }

    /// Writes `PATH.part`, calls fsync(2) and renames it, so that a file at `path` is complete and on the disk.
    static func write(_ bytes: [UInt8], to path: String) throws(DrillError) {
        let part = "\(path).part"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw refusal(path, "written") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(bytes))
            try file.synchronize()
            guard rename(part, path) == 0 else { throw refusal(path, "written") }
        } catch {
            let failure = error as? DrillError ?? DrillError("\(path) cannot be written: \(error.localizedDescription)")
            unlink(part)
            throw failure
        }
        // Ignores errors: not every file system supports fsync(2) of a directory, and the file itself is on the disk.
        let directory = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func tooLong(_ path: String) -> DrillError {
        DrillError("\(path) is longer than \(longest) bytes; a drill record is shorter.")
    }

    private static func refusal(_ path: String, _ act: String) -> DrillError {
        DrillError("\(path) cannot be \(act): \(String(cString: strerror(errno))).")
    }
}
