import ArgumentParser
import AuditKit
import Glibc
import ServiceManager
import Synchronization

/// The process' original standard output, for answers.
///
/// A token's library may write to descriptor 1, and its lines would corrupt a JSON answer. So descriptor 1 leads to
/// standard error while a command runs, and answers have their own descriptor.
enum StandardOutput {
    private static let reserved = Atomic<Int32>(STDOUT_FILENO)

    static var descriptor: Int32 { reserved.load(ordering: .acquiring) }

    /// Call once, before a library is loaded.
    static func reserve() {
        let copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        guard dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
            close(copy)
            return
        }
        reserved.store(copy, ordering: .releasing)
    }

    /// Like `print`, but an error is the command's own, also if the reader has closed its end.
    static func write(_ line: String) throws(CommandError) {
        let reason = Descriptor.write(Array((line + "\n").utf8), to: descriptor)
        guard reason == 0 else {
            throw CommandError("Standard output cannot be written: \(String(cString: strerror(reason))).")
        }
    }
}

@available(*, unavailable, message: "print a String: Swift's own print writes to descriptor 1")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// Replaces Swift's `print`, which writes to descriptor 1.
///
/// Returns also if the reader has closed its end (EPIPE). Any other error ends the process: with status 0, a script would
/// take a part of the answer for the whole.
func print(_ text: String, terminator: String = "\n") {
    let reason = Descriptor.write(Array((text + terminator).utf8), to: StandardOutput.descriptor)
    guard reason != 0, reason != EPIPE else { return }
    StandardError.print(
        "privyseal: standard output could not be written: \(String(cString: strerror(reason))). The output is incomplete; "
            + "write it to another place.")
    // EX_IOERR of sysexits.h.
    ProcessEnd.leave(74)
}

/// Standard error is for everything but the answer.
enum StandardError {
    static func print(_ text: String) {
        // No other place is left to report an error.
        _ = Descriptor.write(Array((text + "\n").utf8), to: STDERR_FILENO)
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

    /// - Throws: `ExitCode` with this status, or 1 for a `CommandError` that may pass, after printing the error of `body`.
    ///   A supervisor repeats a start that ended with 1.
    static func attempt<Value, Failure: Error>(
        _ status: Int32, _ body: () throws(Failure) -> Value
    ) throws -> Value {
        do throws(Failure) { return try body() } catch {
            throw failure("\(error)", status: (error as? CommandError)?.mayPass == true ? 1 : status)
        }
    }
}

/// A file descriptor of the operating system.
enum Descriptor {
    /// Writes all bytes. Waits while a pipe is full that another process has set to non-blocking.
    ///
    /// - Returns: 0 if all bytes are written, otherwise the error of write(2).
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            // On a full disk, write(2) first writes what fits, without an error. The next call fails.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&readiness, 1, 1000)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
