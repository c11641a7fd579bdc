import Glibc
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
}

extension StandardOutput {
    /// EX_IOERR of sysexits.h.
    private static let lost: Int32 = 74

    /// - Returns: false if the reader has closed its end. An unexpected error ends the process: with status 0, a script
    ///   would take a part of the answer for the whole.
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
                "privyseal: standard output could not be written: \(String(cString: strerror(error))). The output is "
                    + "incomplete; write it to another place.")
            ProcessEnd.leave(lost)
        }
    }
}

@available(*, unavailable, message: "print a String: Swift's own print writes to descriptor 1")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// Replaces Swift's `print`, which writes to descriptor 1.
func print(_ text: String, terminator: String = "\n") {
    let bytes = Array((text + terminator).utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(StandardOutput.descriptor, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if !StandardOutput.canGoOn(after: errno) { return }
    }
}
