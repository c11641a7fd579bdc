import ArgumentParser
import AuditKit
import Glibc

/// Standard error is for everything but the answer.
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

    /// Prints the error, and returns the status with which to end the command.
    static func failure(_ message: String, status: Int32 = 1) -> ExitCode {
        // The message may contain text from a file that another user wrote.
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.of(String($0)) }
        print("privyseal: " + lines.joined(separator: "\n"))
        return ExitCode(status)
    }
}
