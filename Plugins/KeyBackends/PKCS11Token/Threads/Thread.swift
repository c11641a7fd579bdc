internal import Glibc
internal import SigningKit

/// A thread of the operating system. Calls into a token block, so they never run on Swift's cooperative pool.
enum Thread {
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
    /// - Parameter name: at most 15 bytes, for `top` and `perf`.
    /// - Returns: false when the system has no thread left.
    static func start(_ name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(name, body))
        var thread = pthread_t()
        // A new thread inherits the signal mask of its creator.
        var all = sigset_t()
        var old = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &old)
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                    ThreadName.set(body.name)
                    body.run()
                }
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// The monotonic clock, which cannot be set.
enum Clock {
    static func nanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
