import ArgumentParser
import Glibc

/// Reads whole files and standard input. An error is a usage error.
enum VerifyFile {
    /// In bytes; answers and key sets are much shorter.
    static let maximumLength = 1 << 20

    /// - Parameter path: a path, or `-` for standard input.
    static func contents(of path: String) throws(ValidationError) -> [UInt8] {
        guard path != "-" || isatty(STDIN_FILENO) == 0 else {
            throw ValidationError(
                "Nothing to verify: give --jws TOKEN, --input FILE, or pipe the answer into the command.")
        }
        do throws(AuditSetupError) {
            return try EvidenceFile.contents(ofArgument: path, limit: maximumLength)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
