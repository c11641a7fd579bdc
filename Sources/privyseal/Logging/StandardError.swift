import ArgumentParser
import AuditKit
import Glibc

/// Where everything goes that is not the answer.
enum StandardError {
    static func print(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes {
                write(STDERR_FILENO, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            guard result > 0 || errno == EINTR else { return }
            written += max(0, result)
        }
    }

    /// Says what went wrong, and gives the error that ends the command with this status.
    static func failure(_ message: String, status: Int32 = 1) -> ExitCode {
        // What it names may come from a file that somebody else wrote.
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.of(String($0)) }
        print("privyseal: " + lines.joined(separator: "\n"))
        return ExitCode(status)
    }
}
