internal import Glibc

/// A thread that runs jobs one after the other, at once or after a delay. Without a job it sleeps.
final class Worker: @unchecked Sendable {
    private struct Timer {
        var due: UInt64
        var work: @Sendable () -> Void
    }

    // Allocated once, because neither may move. `lock` protects the properties below.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let change: UnsafeMutablePointer<pthread_cond_t>
    private var work: [@Sendable () -> Void] = []
    private var timers: [Timer] = []
    private var isEnding = false
    private var onRelease: (@Sendable () -> Void)?
    /// Start of the current job, or its last `beat`, in nanoseconds; 0 without a job.
    private var begun: UInt64 = 0

    init() {
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

    /// - Returns: false when the system has no thread left.
    func start(_ name: StaticString) -> Bool {
        // The thread keeps the worker alive until `end`.
        Thread.start(name) { [self] in
            while let next = wait() { next() }
            finish()
        }
    }

    func run(_ body: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        if !isEnding { work.append(body) }
        pthread_cond_signal(change)
        pthread_mutex_unlock(lock)
    }

    func run(after milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
        let due = Clock.nanoseconds() + UInt64(milliseconds) * 1_000_000
        pthread_mutex_lock(lock)
        if !isEnding { timers.append(Timer(due: due, work: body)) }
        pthread_cond_signal(change)
        pthread_mutex_unlock(lock)
    }

    /// Restarts the time of the current job, which makes progress: its next call begins.
    func noteProgress() {
        pthread_mutex_lock(lock)
        if begun != 0 { begun = Clock.nanoseconds() }
        pthread_mutex_unlock(lock)
    }

    /// Nanoseconds since the start of the current job or its last `beat`; nil without a job.
    var busyFor: UInt64? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if begun == 0 || isEnding { return nil }
        let now = Clock.nanoseconds()
        return now > begun ? now - begun : 0
    }

    /// Ends the thread, and moves the jobs that have not begun to `successor`.
    func handOver(to successor: Worker) {
        pthread_mutex_lock(lock)
        let (work, timers) = (work, timers)
        (self.work, self.timers) = ([], [])
        isEnding = true
        pthread_cond_signal(change)
        pthread_mutex_unlock(lock)
        pthread_mutex_lock(successor.lock)
        successor.work += work
        successor.timers += timers
        pthread_cond_signal(successor.change)
        pthread_mutex_unlock(successor.lock)
    }

    /// Runs `body` when the thread ends. Without effect if it has ended already.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        onRelease = body
        pthread_mutex_unlock(lock)
    }

    private func finish() {
        pthread_mutex_lock(lock)
        let onRelease = onRelease.take()
        pthread_mutex_unlock(lock)
        onRelease?()
    }

    /// Ends the thread after the current job, and drops the waiting jobs.
    func end() {
        pthread_mutex_lock(lock)
        isEnding = true
        work = []
        timers = []
        pthread_cond_signal(change)
        pthread_mutex_unlock(lock)
    }

    private func wait() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(lock)
        defer {
            begun = Clock.nanoseconds()
            pthread_mutex_unlock(lock)
        }
        begun = 0
        while true {
            if isEnding { return nil }
            if !work.isEmpty { return work.removeFirst() }
            guard let first = timers.indices.min(by: { timers[$0].due < timers[$1].due }) else {
                pthread_cond_wait(change, lock)
                continue
            }
            if timers[first].due <= Clock.nanoseconds() { return timers.remove(at: first).work }
            var due = timespec(
                tv_sec: Int(timers[first].due / 1_000_000_000), tv_nsec: Int(timers[first].due % 1_000_000_000))
            pthread_cond_timedwait(change, lock, &due)
        }
    }
}
