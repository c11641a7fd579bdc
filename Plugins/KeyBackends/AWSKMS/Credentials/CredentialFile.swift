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
        try await DispatchQueue.global().call { () throws(KeyError) in try read(path, name) }
    }

    private static func read(_ path: String, _ name: String) throws(KeyError) -> String? {
        func unreadable(_ reason: String) -> KeyError { .unavailable("The \(name) \(path) cannot be read: \(reason).") }
        let bytes: [UInt8]
        do throws(BoundedFile.Failure) { bytes = try BoundedFile.read(path, limit: longest) } catch {
            switch error {
            case .system(ENOENT), .system(ENOTDIR): return nil
            case .system(let code): throw unreadable(String(cString: strerror(code)))
            case .directory, .notRegular: throw unreadable("it is not a file")
            case .tooLong: throw unreadable("it is longer than \(longest) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unreadable("it is not UTF-8") }
        return text
    }
}
