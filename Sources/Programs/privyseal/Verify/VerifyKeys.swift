import ArgumentParser
import Crypto
import Glibc
import SignatureExplanation
import Signing
import SigningKit

enum VerifyKeys {
    /// - Parameters:
    ///   - files: each `FILE` or `KEYID=FILE`.
    ///   - config: the path of a configuration whose keys are added.
    static func read(_ files: [String], config: String?) async throws -> [CandidateKey] {
        var keys = try files.flatMap(candidates)
        if let config { keys += try await configured(in: config) }
        guard !keys.isEmpty else {
            throw ValidationError("No key to verify with: give --key FILE (PEM or JWKS), or --config FILE.")
        }
        return keys
    }

    private static func candidates(_ argument: String) throws -> [CandidateKey] {
        let (keyID, path) = split(argument)
        do {
            return try CandidateKey.read(try VerifyFile.contents(of: path), label: path, keyID: keyID)
        } catch let error as CandidateKeyError {
            throw ValidationError("\(path): \(error)")
        }
    }

    /// The ID in `KEYID=FILE` has only letters, digits and hyphens, as a UUID has, so that a path with an equals sign can
    /// be `./a=b.pem`.
    private static func split(_ argument: String) -> (keyID: String?, path: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex,
            argument[..<equals].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { return (nil, argument) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    /// Opens every key, because a fingerprint cannot verify. Keys that cannot be opened are reported and left out.
    private static func configured(in path: String) async throws -> [CandidateKey] {
        LogSetup.bootstrapQuietly()
        let gateway = ConfigurationSnapshot(try ConfigurationOption.load(path))
        await gateway.ring.openMissing()
        let keys = gateway.ring.handles.compactMap { handle -> CandidateKey? in
            guard let publicKey = handle.publicKey else {
                let reason = handle.state.reason ?? "It cannot be opened."
                StandardError.print("warning: the key \(handle.settings.keyID) is left out: \(reason)")
                return nil
            }
            return CandidateKey(keyID: handle.settings.keyID, label: path, publicKey: publicKey)
        }
        await gateway.ring.close()
        guard !keys.isEmpty else { throw ValidationError("No key of \(path) can be opened; see privyseal check.") }
        return keys
    }
}

/// Reads whole files and standard input. An error is a usage error.
enum VerifyFile {
    /// - Parameter path: a path, or `-` for standard input.
    static func contents(of path: String) throws(ValidationError) -> [UInt8] {
        guard path != "-" || isatty(STDIN_FILENO) == 0 else {
            throw ValidationError(
                "Nothing to verify: give --jws TOKEN, --input FILE, or pipe the answer into the command.")
        }
        do throws(CommandError) {
            // Answers and key sets are much shorter than 1 MiB.
            return try InputFile.contents(ofArgument: path, limit: 1 << 20)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
