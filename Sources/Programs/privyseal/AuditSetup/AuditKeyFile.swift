import Foundation
import Glibc
import TransparencyLog

/// The file of a log's private key, and beside it the file of its public key, readable by all users.
struct AuditKeyFile {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    var publicPath: String { path + ".pub" }

    var exists: Bool { access(path, F_OK) == 0 }

    func read() throws(CommandError) -> NoteSigner {
        let facts = FileFacts(path)
        guard facts.map({ $0.isRegular && $0.size <= 4096 }) ?? true else {
            throw CommandError("\(path) is not a file with the key of an audit log.")
        }
        guard let facts, let data = FileManager.default.contents(atPath: path) else {
            throw CommandError("The audit log's key \(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        guard facts.mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw CommandError(
                "The audit log's key \(path) is accessible to users other than its owner. Run chmod 600 \(path), and "
                    + "consider whether it has been copied.")
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        do { return try NoteSigner(text) } catch {
            // The error's text may contain the file's content.
            throw CommandError("\(path) is not the key of an audit log, which begins with PRIVATE+KEY+.")
        }
    }

    /// The public keys in the `.pub` file, one per line: the log's own, and cosigners' keys that are added by hand.
    func publicKeys() throws(CommandError) -> [NoteVerifier] {
        // The gateway reads the file while it serves, and opening a FIFO waits for a writer (fifo(7)).
        guard FileFacts(publicPath)?.isRegular ?? true else {
            throw CommandError("\(publicPath) is not a regular file; give a file, not a FIFO, socket or device.")
        }
        return try InputFile.publicKeys(in: publicPath)
    }

    /// Never overwrites a file.
    func write(_ signer: NoteSigner) throws(CommandError) {
        try DurableWrite.create(path, signer.text + "\n", mode: 0o600)
        try DurableWrite.create(publicPath, signer.verifier.text + "\n")
    }

    /// Writes the public key's file again if it is missing.
    func restorePublicKey(of signer: NoteSigner) throws(CommandError) {
        guard access(publicPath, F_OK) != 0 else { return }
        try DurableWrite.create(publicPath, signer.verifier.text + "\n")
    }
}
