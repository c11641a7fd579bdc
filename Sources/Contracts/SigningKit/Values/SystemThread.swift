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
    @discardableResult
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

/// Lets one thread wait for another. It measures times with the monotonic clock: a `DispatchSemaphore` follows the system
/// time on Linux, so a change of the time would shorten or prolong a wait.
public final class Semaphore: @unchecked Sendable {
    // Allocated once, because neither may move. `lock` protects `count`.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let change: UnsafeMutablePointer<pthread_cond_t>
    /// Signals for which no thread has waited yet.
    private var count = 0

    public init() {
        lock = .allocate(capacity: 1)
        change = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(change, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(lock)
        change.deallocate()
        lock.deallocate()
    }

    public func signal() {
        pthread_mutex_lock(lock)
        count += 1
        pthread_cond_signal(change)
        pthread_mutex_unlock(lock)
    }

    public func wait() {
        pthread_mutex_lock(lock)
        while count == 0 { pthread_cond_wait(change, lock) }
        count -= 1
        pthread_mutex_unlock(lock)
    }

    /// - Returns: false if there was no signal within `limit`.
    @discardableResult
    public func wait(atMost limit: Duration) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let end = (Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) + limit).components
        var deadline = timespec(tv_sec: Int(end.seconds), tv_nsec: Int(end.attoseconds / 1_000_000_000))
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while count == 0 {
            if pthread_cond_timedwait(change, lock, &deadline) == ETIMEDOUT { return false }
        }
        count -= 1
        return true
    }
}

/// A value for one thread at a time, such as a database connection, which belongs to no thread. `gate` protects `value`.
package final class Exclusive<Value>: @unchecked Sendable {
    private let gate = Semaphore()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        gate.signal()
    }

    package func use<Outcome, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Outcome
    ) throws(Failure) -> Outcome {
        gate.wait()
        defer { gate.signal() }
        return try body(&value)
    }
}
