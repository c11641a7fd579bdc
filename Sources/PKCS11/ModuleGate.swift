internal import CP11Kit
internal import Glibc

/// Lets any number of calls into a module, or one thread that re-initialises it. A thread that waits to be alone holds
/// new calls back, but not for longer than it was told: a call that hangs would hold it forever.
final class ModuleGate: @unchecked Sendable {
    // Allocated once; pthread_rwlock_t must not move.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // Without this a steady stream of calls would never let anybody be alone.
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// - Note: not to be nested.
    @inline(__always)
    func pass<Result, Failure: Error>(_ call: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try call()
    }

    /// - Returns: nil when calls were still under way after `milliseconds`; `body` was not run then.
    func alone<Result, Failure: Error>(
        within milliseconds: Int, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        var deadline = timespec()
        // Not the time of day: who sets it would cut the wait short, or make it last for ever.
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
