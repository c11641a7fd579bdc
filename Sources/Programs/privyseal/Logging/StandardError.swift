import ArgumentParser
import AuditKit
import Glibc
import ServiceManager

/// Standard error is for everything but the answer.
enum StandardError {
    static func print(_ text: String) {
        // No other place is left to report an error.
        _ = DurableWrite.write(Array((text + "\n").utf8), to: STDERR_FILENO)
    }

    static func warn(of failures: [(measure: ProcessHardening, errno: Int32)]) {
        for failure in failures {
            print("warning: the process could not be hardened: \(failure.measure) (errno \(failure.errno))")
        }
    }

    /// Prints the error, and returns the status with which to end the command.
    static func failure(_ message: String, status: Int32 = 1) -> ExitCode {
        // The message may contain text from a file that another user wrote.
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { PlainText.of(String($0)) }
        print("privyseal: " + lines.joined(separator: "\n"))
        return ExitCode(status)
    }

    /// - Throws: `ExitCode` with this status, after printing the error of `body`.
    static func attempt<Value, Failure: Error>(
        _ status: Int32, _ body: () throws(Failure) -> Value
    ) throws -> Value {
        do throws(Failure) { return try body() } catch { throw failure("\(error)", status: status) }
    }
}
