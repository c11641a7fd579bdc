internal import Glibc

/// The name of a thread in the kernel, as `top -H` and `perf` show it.
public enum ThreadName {
    /// Names the current thread. Swift does not import the C function for it. Foundation's `Thread.name` takes effect
    /// only once the thread that started this one has progressed far enough.
    ///
    /// - Parameter name: at most 15 bytes.
    public static func set(_ name: StaticString) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name.utf8Start, name.utf8CodeUnitCount)
        close(file)
    }
}
