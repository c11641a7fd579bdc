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

@available(*, unavailable, message: "print a String: Swift's own print writes to descriptor 1")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// In place of Swift's own, which writes to descriptor 1.
func print(_ text: String, terminator: String = "\n") {
    let bytes = Array((text + terminator).utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(StandardOutput.descriptor, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
}
