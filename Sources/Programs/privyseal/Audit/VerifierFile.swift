import TransparencyLog

/// Public keys of logs and cosigners (vkey, C2SP signed-note), one per line. Empty lines and `#` lines are ignored.
struct VerifierFile {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// At least one key.
    func verifiers() throws(AuditSetupError) -> [NoteVerifier] {
        let text = String(decoding: try EvidenceFile.contents(of: path, limit: EvidenceFile.Limit.keys), as: UTF8.self)
        var verifiers: [NoteVerifier] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingPrefix { $0.isWhitespace }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard !line.hasPrefix("PRIVATE+KEY+") else {
                throw AuditSetupError(
                    "\(path) is a private key. Leave it there, and give its public key, \(path).pub.")
            }
            do throws(NoteError) {
                verifiers.append(try NoteVerifier(String(line.prefix { !$0.isWhitespace })))
            } catch {
                throw AuditSetupError("\(path) does not hold public keys of a log. \(error)")
            }
        }
        guard !verifiers.isEmpty else { throw AuditSetupError("\(path) holds no public key.") }
        return verifiers
    }
}
