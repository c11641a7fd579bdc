import Dispatch
import Glibc
import SigningKit

/// Reads small files without blocking the caller's thread.
enum CredentialFile {
    /// In bytes.
    private static let longest = 1 << 20

    /// - Parameter name: the kind of file, for messages.
    /// - Returns: nil if there is no such file.
    /// - Throws: `unavailable` if it exists but cannot be read.
    static func text(_ path: String, _ name: String) async throws(KeyError) -> String? {
        let result: Result<String?, KeyError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(KeyError) in try read(path, name) })
            }
        }
        return try result.get()
    }

    private static func read(_ path: String, _ name: String) throws(KeyError) -> String? {
        func unreadable(_ reason: String) -> KeyError { .unavailable("The \(name) \(path) cannot be read: \(reason).") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw unreadable(String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable("it is not a file")
        }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { room in
                Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw unreadable(String(cString: strerror(errno))) }
            if result == 0 { break }
            count += result
        }
        guard count <= longest else { throw unreadable("it is longer than \(longest) bytes") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else { throw unreadable("it is not UTF-8") }
        return text
    }
}
