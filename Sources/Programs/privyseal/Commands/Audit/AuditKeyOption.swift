import ArgumentParser
import GatewayConfiguration
import TransparencyLog

struct AuditKeyOption: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            """
            A file with public keys (vkey), one in each line: the log's, and a cosigner's. Repeat the option for more \
            files; with --config, the log's own .pub file is used too.
            """, valueName: "vkey-file"),
        completion: .file(extensions: ["pub"]))
    var files: [String] = []

    /// - Throws: `ExitCode` 64 if there is no key or a file cannot be used, after printing the error.
    func verifiers(for source: AuditSource?) throws -> [NoteVerifier] {
        var paths = files
        if let key = source?.settings?.audit.key.path { paths.insert(AuditKeyFile(key).publicPath, at: 0) }
        guard !paths.isEmpty else {
            throw StandardError.failure(
                "Nothing can be verified without the log's public key: give --key FILE, with a key that does not come "
                    + "from the copy itself.", status: ExitCode.validationFailure.rawValue)
        }
        return try AuditAttempt.parse { () throws(AuditSetupError) in
            var verifiers: [NoteVerifier] = []
            for path in paths { verifiers += try VerifierFile(path).verifiers() }
            return verifiers
        }
    }
}
