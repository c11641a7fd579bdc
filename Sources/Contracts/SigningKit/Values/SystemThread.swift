import Glibc

/// Threads of the operating system, for calls that block: those never run on Swift's cooperative pool.
public enum SystemThread {
    private final class Body {
        let name: StaticString
        let run: @Sendable () -> Void

        init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts `body` on a new thread, with all signals blocked.
    ///
    /// - Parameters:
    ///   - name: at most 15 bytes, for `top -H` and `perf`.
    ///   - stackSize: in bytes; nil for the system's default.
    /// - Returns: false when the system has no thread left.
    public static func start(
        _ name: StaticString, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let box = Unmanaged.passRetained(Body(name, body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        // A new thread inherits the signal mask of its creator.
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &old)
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument {
                    let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                    SystemThread.setName(body.name)
                    body.run()
                }
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        pthread_attr_destroy(&attributes)
        guard code == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Names the current thread. Swift does not import the C function for it.
    private static func setName(_ name: StaticString) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name.utf8Start, name.utf8CodeUnitCount)
        close(file)
    }
}
