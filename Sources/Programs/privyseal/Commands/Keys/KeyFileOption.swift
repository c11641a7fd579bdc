import ArgumentParser
import Encodings
import Foundation
import Glibc
import Signing
import SigningKit

/// How to read a `.p8` file: the source of its passphrase.
struct KeyFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the passphrase of an encrypted .p8 is: file:/path or credential:NAME.", valueName: "source"))
    var passphraseSource: String?

    func material(of path: String) async throws -> KeyMaterial {
        var text = "file:\(Self.escape(URL(filePath: path).standardizedFileURL.path))"
        if let passphraseSource { text += "?passphrase-source=\(Self.escape(passphraseSource))" }
        let uri = try KeyURI(text)
        guard let backend = BuiltIns.keyBackend(for: uri) as? any KeyMaterialReading.Type else {
            throw KeyError.invalidURI("no backend reads key files")
        }
        let environment = KeyBackendEnvironment(
            settings: PluginSettings(defaultsOf: backend.settings), secrets: FileSecretSource())
        return try await backend.material(at: backend.address(of: uri).locator, in: environment)
    }

    /// The bytes of a wrapping key or a package; `-` is standard input.
    ///
    /// - Throws: `ExitCode` 64, after printing the error.
    static func transported(_ path: String) throws -> [UInt8] {
        try StandardError.attempt(64) { () throws(CommandError) in
            try InputFile.contents(ofArgument: path, limit: InputFile.Limit.proof)
        }
    }

    private static func escape(_ text: String) -> String { PercentEncoding.encode(text, .init(kept: "-._~/:")) }
}

/// Overwrites a key file and removes it.
struct KeyFileDestruction {
    let path: String

    /// The limits of overwriting, for the person who decides.
    static let limits =
        "Overwriting reaches this file's blocks only. An SSD keeps old blocks for a while, file systems that copy on "
        + "write (Btrfs, ZFS, overlays) and journals keep old versions, and backups, snapshots and downloads have copies of "
        + "their own: look for those yourself."

    func run() throws(CommandError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            guard errno != ELOOP else {
                throw CommandError("\(path) is a symbolic link, and was left as it is. Destroy the file that it names.")
            }
            throw failure("opened")
        }
        defer { close(descriptor) }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard attributes?[.type] as? FileAttributeType == .typeRegular, size >= 0 else {
            throw CommandError("\(path) is not a file. It was left as it is.")
        }
        guard attributes?[.referenceCount] as? Int == 1 else {
            throw CommandError("\(path) has more than one name (hard links). It was left as it is.")
        }
        var random = SystemRandomNumberGenerator()
        let noise = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        for content in [noise, [UInt8](repeating: 0, count: noise.count)] {
            guard pwrite(descriptor, content, content.count, 0) == content.count, fsync(descriptor) == 0 else {
                throw failure("overwritten")
            }
        }
        guard unlink(path) == 0 else { throw failure("removed after it was overwritten") }
        // The file is gone from this system; a failure only means that a power failure may bring back its name.
        try? DurableWrite.synchronize(directoryOf: path)
    }

    private func failure(_ action: String) -> CommandError {
        CommandError("\(path) could not be \(action): \(String(cString: strerror(errno))).")
    }
}
