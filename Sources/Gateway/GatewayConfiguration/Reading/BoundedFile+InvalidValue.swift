import Glibc
import SigningKit

extension BoundedFile {
    /// The same as `read`, for the reader of the configuration.
    ///
    /// - Throws: A text that continues a sentence after the file's name.
    static func contents(
        of path: String, limit: Int, mayBePipe: Bool = false
    ) throws(InvalidValue) -> [UInt8] {
        // A C string ends at the zero byte, so open(2) would open another file.
        guard !path.utf8.contains(0) else { throw InvalidValue("has a NUL byte in its path") }
        do throws(Failure) { return try read(path, limit: limit, mayBePipe: mayBePipe) } catch {
            throw InvalidValue(sentence(for: error, limit))
        }
    }

    private static func sentence(for failure: Failure, _ limit: Int) -> String {
        switch failure {
        case .system(ENOENT), .system(ENOTDIR): "does not exist; check the path"
        case .system(EACCES), .system(EPERM):
            "cannot be read by the user that the gateway runs as; check its permissions"
        case .directory, .system(EISDIR): "is a directory; give a file"
        // open(2) returns ENXIO for a socket.
        case .notRegular, .system(ENXIO): "is not a regular file; give a file, not a FIFO, socket or device"
        case .system(let code): "cannot be read (errno \(code))"
        case .tooLong: "has more than \(limit) bytes; check the path"
        }
    }
}
