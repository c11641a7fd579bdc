import ArgumentParser
import SignatureExplanation

enum VerifyKeys {
    /// - Parameters:
    ///   - files: each `FILE` or `KEYID=FILE`.
    ///   - config: the path of a configuration whose keys are added.
    static func read(_ files: [String], config: String?) async throws -> [CandidateKey] {
        var keys = try files.flatMap(candidates)
        if let config { keys += try await VerifyConfiguredKeys.read(path: config) }
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

    /// The ID in `KEYID=FILE` has only letters and digits, so that a path with an equals sign can be `./a=b.pem`.
    private static func split(_ argument: String) -> (keyID: String?, path: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex,
            argument[..<equals].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return (nil, argument) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }
}
