import CLinux
import Foundation
import Glibc
import TransparencyLog

/// Reads the files that a command gets, such as keys, reports and requests, within limits.
enum InputFile {
    /// The largest accepted size of each kind of file, in bytes.
    enum Limit {
        static let token = 1 << 14
        /// The request of `privyseal sign`: the default of the HTTP service.
        static let request = 1 << 16
        static let keys = 1 << 18
        /// A proof: an entry of at most 64 KiB, hashes and a checkpoint.
        static let proof = 1 << 20
        /// A report, its page, or a drill record.
        static let report = 1 << 24
        /// Two million checkpoints from a pipe, or an archived segment with entries of 64 KiB each.
        static let archive = 1 << 29
    }

    static func contents(of path: String, limit: Int) throws(CommandError) -> [UInt8] {
        // Pipes, devices and files in /proc have the length 0.
        if let size = FileFacts(path)?.size, size > limit { throw tooLong(path, limit) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        return try contents(descriptor, path, limit)
    }

    private static func contents(_ descriptor: Int32, _ name: String, _ limit: Int) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(descriptor, name, first: limit + 1) { bytes += $0 }
        guard bytes.count <= limit else { throw tooLong(name, limit) }
        return bytes
    }

    /// `-` is standard input, read by its descriptor: opening /dev/stdin fails if the pipe belongs to another user.
    static func contents(ofArgument path: String, limit: Int) throws(CommandError) -> [UInt8] {
        path == "-" ? try contents(STDIN_FILENO, "standard input", limit) : try contents(of: path, limit: limit)
    }

    /// A bearer token, without surrounding white space.
    static func token(in path: String) throws(CommandError) -> String {
        let token = String(decoding: try contents(of: path, limit: Limit.token), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        // The HTTP client's error for an invalid header would contain the token.
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandError("The token in \(path) is not one line of visible ASCII characters.")
        }
        return token
    }

    /// The public keys (vkey, C2SP signed-note) in a file, one per line. Empty lines and `#` lines are ignored.
    ///
    /// - Throws: also if the file holds no key.
    static func publicKeys(in path: String) throws(CommandError) -> [NoteVerifier] {
        let text = String(decoding: try contents(of: path, limit: Limit.keys), as: UTF8.self)
        var verifiers: [NoteVerifier] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingPrefix { $0.isWhitespace }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard !line.hasPrefix("PRIVATE+KEY+") else {
                throw CommandError(
                    "\(path) is a private key. Leave it there, and give its public key, \(path).pub.")
            }
            let verifier: NoteVerifier
            do throws(NoteError) { verifier = try NoteVerifier(String(line.prefix { !$0.isWhitespace })) } catch {
                throw CommandError("\(path) does not hold public keys of a log. \(error)")
            }
            guard !verifier.isWitness else {
                throw CommandError(
                    "\(path) has the key of the witness \(verifier.name), not of a log. Keys of witnesses belong in a "
                        + "policy: --policy FILE.")
            }
            verifiers.append(verifier)
        }
        guard !verifiers.isEmpty else { throw CommandError("\(path) holds no public key.") }
        return verifiers
    }

    /// Reads a regular file only: reading a pipe could block forever.
    static func contents(ofFile path: String, limit: Int = Limit.archive) throws(CommandError) -> [UInt8] {
        guard access(path, F_OK) == 0 else { throw refusal(path) }
        guard FileFacts(path)?.isRegular == true else { throw CommandError("\(path) is not a file.") }
        return try contents(of: path, limit: limit)
    }

    /// - Parameter limit: bytes from the file's beginning.
    static func read(
        _ path: String, first limit: Int, _ visit: (ArraySlice<UInt8>) -> Void
    ) throws(CommandError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path) }
        defer { close(descriptor) }
        try read(descriptor, path, first: limit, visit)
    }

    private static func read(
        _ descriptor: Int32, _ name: String, first limit: Int, _ visit: (ArraySlice<UInt8>) -> Void
    ) throws(CommandError) {
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        var total = 0
        while true {
            let wanted = min(buffer.count, limit - total)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, wanted) }
            if count == 0 { return }
            guard count > 0 || errno == EINTR else { throw refusal(name) }
            total += max(0, count)
            visit(buffer[..<max(0, count)])
        }
    }

    fileprivate static let pieceSize = 1 << 16

    private static func tooLong(_ path: String, _ limit: Int) -> CommandError {
        CommandError("\(path) is longer than \(limit) bytes.")
    }

    private static func refusal(_ path: String) -> CommandError {
        CommandError("\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}

/// A file that yields the same bytes at each read. Bytes appended later are ignored. The content of a pipe, which can
/// be read only once, is in memory.
struct InputCopy {
    private let path: String
    private let length: Int
    private let bytes: [UInt8]?

    init(of path: String) throws(CommandError) {
        self.path = path
        let facts = FileFacts(path)
        // A missing file is reported when it is opened.
        let isFile = facts?.isRegular ?? true
        bytes = isFile ? nil : try InputFile.contents(of: path, limit: InputFile.Limit.archive)
        length = isFile ? facts?.size ?? 0 : 0
    }

    func read(_ visit: (ArraySlice<UInt8>) -> Void) throws(CommandError) {
        guard let bytes else { return try InputFile.read(path, first: length, visit) }
        for start in stride(from: 0, to: bytes.count, by: InputFile.pieceSize) {
            visit(bytes[start..<min(start + InputFile.pieceSize, bytes.count)])
        }
    }
}

/// The attributes of a file from statx(2), following symbolic links.
struct FileFacts {
    /// File type and permissions.
    let mode: mode_t
    /// In bytes.
    let size: Int
    /// The device number of its file system.
    let device: UInt64

    /// Nil if there is no file.
    init?(_ path: String) {
        var mark = privyseal_file_mark()
        guard privyseal_mark_file(path, &mark) == 0 else { return nil }
        mode = mark.mode
        size = Int(clamping: mark.size)
        device = mark.device
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
}
