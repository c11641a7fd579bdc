import Glibc
import Logging
public import SigningKit

/// Reads secrets from files and systemd credentials (`LoadCredential=`, systemd.exec(5)). It runs no commands.
public struct FileSecretSource: SecretSource {
    private let credentialsDirectory: String?

    /// Uses the directory that systemd names in `$CREDENTIALS_DIRECTORY`.
    public init() {
        self.init(credentialsDirectory: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) })
    }

    /// - Parameter credentialsDirectory: nil for no credentials.
    public init(credentialsDirectory: String?) {
        self.credentialsDirectory = credentialsDirectory
    }

    public func secret(_ reference: String) throws(KeyError) -> Secret { try read(try path(of: reference)) }

    public func identity(of reference: String) -> String? {
        var status = stat()
        guard let path = try? path(of: reference), stat(path, &status) == 0 else { return nil }
        let time = status.st_mtim
        return "\(status.st_dev):\(status.st_ino):\(status.st_size):\(time.tv_sec).\(time.tv_nsec)"
    }

    /// The file of a secret.
    public func path(of reference: String) throws(KeyError) -> String {
        if reference.hasPrefix("/") { return reference }
        if reference.hasPrefix("file:/") {
            let path = reference.dropFirst("file:".count)
            return String(path.hasPrefix("///") ? path.dropFirst(2) : path)
        }
        guard reference.hasPrefix("credential:") else {
            throw .secretUnavailable(
                "A secret's source must be file:/absolute/path or credential:NAME; commands are not run.")
        }
        let name = reference.dropFirst("credential:".count)
        guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
            throw .secretUnavailable("credential:\(name) does not name a systemd credential.")
        }
        guard let credentialsDirectory else {
            throw .secretUnavailable(
                "credential:\(name) needs $CREDENTIALS_DIRECTORY, which systemd sets for units with LoadCredential=.")
        }
        return "\(credentialsDirectory)/\(name)"
    }

    private func read(_ path: String) throws(KeyError) -> Secret {
        func unreadable() -> KeyError {
            .secretUnavailable("The secret in \(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable() }
        // A read from a FIFO could wait for a writer.
        guard status.st_mode & S_IFMT == S_IFREG else { throw .secretUnavailable("\(path) is not a file.") }
        if status.st_mode & 0o077 != 0 {
            // Made here: a signer sends its log lines to the gateway only after it has made the source of secrets.
            Logger(label: "privyseal.secrets")
                .warning("Group or others can read a file that holds a secret; run: chmod 600 \(path)")
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.maximumLength + 1, alignment: 1)
        defer {
            Secret.wipe(room)
            room.deallocate()
        }
        guard var count = BoundedFile.fill(room, from: descriptor) else { throw unreadable() }
        guard count <= Self.maximumLength else {
            throw .secretUnavailable("The secret in \(path) is longer than \(Self.maximumLength) bytes.")
        }
        // Remove one line break (LF or CR LF) at the end, because editors and `echo` add one.
        if count > 0, room[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, room[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard count > 0 else { throw .secretUnavailable("The secret in \(path) is empty.") }
        return Secret(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// In bytes. PINs and passphrases are far shorter.
    private static let maximumLength = 4096
}
