internal import Glibc

/// What the system calls a thread: what `top -H` and `perf` show.
public enum ThreadName {
    /// Names the current thread. The C function for this is not visible to Swift, and Foundation's `Thread.name` takes effect
    /// only when the thread that started this one has got so far.
    ///
    /// - Parameter name: at most 15 bytes.
    public static func set(_ name: StaticString) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name.utf8Start, name.utf8CodeUnitCount)
        close(file)
    }
}
