import ArgumentParser
import Glibc

/// Reads whole files and standard input.
enum VerifyFile {
    /// In bytes; answers and key sets are much shorter.
    static let maximumLength = 1 << 20

    /// - Parameter path: a path, or `-` for standard input.
    static func contents(of path: String) throws(ValidationError) -> [UInt8] {
        guard path != "-" else {
            guard isatty(STDIN_FILENO) == 0 else {
                throw ValidationError(
                    "Nothing to verify: give --jws TOKEN, --input FILE, or pipe the answer into the command.")
            }
            return try contents(of: STDIN_FILENO, name: "standard input")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        return try contents(of: descriptor, name: path)
    }

    private static func contents(of descriptor: Int32, name: String) throws(ValidationError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw failure(name, errno) }
                continue
            }
            bytes += buffer[..<count]
            guard bytes.count <= maximumLength else {
                throw ValidationError("\(name) is longer than \(maximumLength) bytes.")
            }
        }
    }

    private static func failure(_ name: String, _ code: Int32) -> ValidationError {
        ValidationError("\(name) cannot be read: \(String(cString: strerror(code))).")
    }
}
