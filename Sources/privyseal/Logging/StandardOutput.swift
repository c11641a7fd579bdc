import Glibc
import Synchronization

/// Where answers go: what standard output was when the process began.
///
/// A token's library may write to descriptor 1, and its lines would stand within an answer in JSON. So descriptor 1 leads to
/// standard error while a command runs, and answers have a descriptor of their own.
enum StandardOutput {
    private static let reserved = Atomic<Int32>(STDOUT_FILENO)

    static var descriptor: Int32 { reserved.load(ordering: .acquiring) }

    /// Before a library is loaded; once for a process.
    static func reserve() {
        let copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        guard dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
            close(copy)
            return
        }
        reserved.store(copy, ordering: .releasing)
    }
}

extension StandardOutput {
    /// EX_IOERR of sysexits.h.
    private static let lost: Int32 = 74

    /// After a write that wrote nothing. An answer that cannot be written ends the process: with status 0 a script would
    /// take a part of it for the whole.
    ///
    /// - Returns: false when the reader has closed its end and wants no more.
    fileprivate static func canGoOn(after error: Int32) -> Bool {
        switch error {
        case EINTR: return true
        case EAGAIN:
            // The pipe is full, and another process has set it to non-blocking.
            var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&wanted, 1, -1)
            return true
        case EPIPE: return false
        default:
            StandardError.print(
                "privyseal: standard output could not be written: \(String(cString: strerror(error))). The answer is not "
                    + "whole; write it to another place.")
            ProcessEnd.leave(lost)
        }
    }
}

@available(*, unavailable, message: "print a String: Swift's own print writes to descriptor 1")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// In place of Swift's own, which writes to descriptor 1.
func print(_ text: String, terminator: String = "\n") {
    let bytes = Array((text + terminator).utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(StandardOutput.descriptor, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if !StandardOutput.canGoOn(after: errno) { return }
    }
}
