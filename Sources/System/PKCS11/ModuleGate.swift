import CP11Kit
import Glibc

/// Allows any number of calls into a module, or one thread that initialises it again. A thread that waits for exclusive
/// access blocks new calls, but only until its deadline: a hung call would block them forever.
final class ModuleGate: @unchecked Sendable {
    // Allocated once; pthread_rwlock_t must not move.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // Otherwise a steady stream of calls would never allow exclusive access.
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// - Note: Calls must not be nested.
    @inline(__always)
    func pass<Result, Failure: Error>(_ call: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try call()
    }

    /// - Returns: nil if calls were still in progress after `milliseconds`; `body` did not run then.
    func alone<Result, Failure: Error>(
        within milliseconds: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        var deadline = timespec()
        // The monotonic clock, because a change of the system time would shorten or prolong the wait.
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += milliseconds / 1000
        deadline.tv_nsec += milliseconds % 1000 * 1_000_000
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        guard pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &deadline) == 0 else { return nil }
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }
}
