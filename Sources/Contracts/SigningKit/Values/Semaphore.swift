import Glibc
import Synchronization

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

extension Semaphore {
    /// Lets a thread wait for a task. Do not call it on a thread that runs tasks.
    public static func wait<Value: Sendable>(
        for body: @escaping @Sendable () async throws(KeyError) -> Value
    ) throws(KeyError) -> Value {
        let done = Semaphore()
        let outcome = Mutex<Result<Value, KeyError>?>(nil)
        Task {
            let result: Result<Value, KeyError>
            do throws(KeyError) { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw .closed }
        return try result.get()
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
