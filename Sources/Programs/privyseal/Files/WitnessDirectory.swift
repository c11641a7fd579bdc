import Foundation
import Glibc
import TransparencyLog
import WitnessServer

/// The files of a witness: its private key, the public key, and the database with the checkpoints that it cosigned.
struct WitnessDirectory {
    private let path: String

    init(_ path: String) throws(CommandError) {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        guard let resolved, let facts = FileFacts(path), facts.mode & S_IFMT == S_IFDIR else {
            throw CommandError("\(path) is not a directory. Make it, and give it to the witness' user alone.")
        }
        self.path = String(cString: resolved)
    }

    private var keyPath: String { "\(path)/witness.key" }
    private var databasePath: String { "\(path)/witness.db" }

    func publicKey() throws(CommandError) -> String {
        guard access(keyPath + ".pub", F_OK) == 0 else { throw noWitness }
        return String(
            decoding: try InputFile.contents(of: keyPath + ".pub", limit: InputFile.Limit.keys), as: UTF8.self
        )
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private var noWitness: CommandError {
        CommandError("There is no witness in \(path) yet. Give the name of a new one with --name.")
    }

    /// - Parameter name: the name of a new witness; an existing one has its own.
    func open(name: String?) throws(CommandError) -> (WitnessKey, WitnessMemory) {
        let hasKey = access(keyPath, F_OK) == 0
        let hasDatabase = access(databasePath, F_OK) == 0
        guard hasKey == hasDatabase else {
            throw CommandError(
                hasKey
                    ? "\(databasePath) is missing, but \(keyPath) exists. Put the database back: without it, the witness "
                        + "could cosign a fork. To begin another witness, take another directory."
                    : "\(keyPath) is missing, but \(databasePath) exists. Put the key back; after an interrupted first start, "
                        + "remove the database.")
        }
        if hasKey {
            let key = try existingKey()
            guard name == nil || name == key.name else {
                throw CommandError("The witness in \(path) has the name \(key.name). Give that --name, or none.")
            }
            // A first start may have been interrupted.
            if access(keyPath + ".pub", F_OK) != 0 { try writePublicKey(of: key) }
            return (key, try memory(of: key, isNew: false))
        }
        guard let name else { throw noWitness }
        let key: WitnessKey
        do throws(NoteError) { key = try .generate(name: name) } catch { throw CommandError("--name: \(error)") }
        // The database comes first: a key without one is refused.
        let memory = try memory(of: key, isNew: true)
        try DurableWrite.synchronize(path, O_DIRECTORY)
        try DurableWrite.create(keyPath, key.text + "\n", mode: 0o600)
        try writePublicKey(of: key)
        return (key, memory)
    }

    private func writePublicKey(of key: WitnessKey) throws(CommandError) {
        try DurableWrite.create(keyPath + ".pub", key.verifier.text + "\n")
    }

    private func memory(of key: WitnessKey, isNew: Bool) throws(CommandError) -> WitnessMemory {
        do throws(WitnessMemoryError) { return try WitnessMemory(path: databasePath, of: key, isNew: isNew) } catch {
            throw CommandError("\(error)")
        }
    }

    private func existingKey() throws(CommandError) -> WitnessKey {
        guard let facts = FileFacts(keyPath), facts.mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw CommandError(
                "\(keyPath) is accessible to users other than its owner. Run chmod 600 \(keyPath), and consider whether "
                    + "it has been copied.")
        }
        let text = String(
            decoding: try InputFile.contents(ofFile: keyPath, limit: InputFile.Limit.token), as: UTF8.self)
        do throws(NoteError) { return try WitnessKey(text.trimmingCharacters(in: .whitespacesAndNewlines)) } catch {
            // The error's text may contain the file's content.
            throw CommandError("\(keyPath) is not the key of a witness.")
        }
    }

    /// The logs of files with public keys.
    static func logs(in files: [String]) throws(CommandError) -> WitnessedLogs {
        var verifiers: [NoteVerifier] = []
        for file in files { verifiers += try InputFile.publicKeys(in: file) }
        return WitnessedLogs(verifiers)
    }
}
