import NIOCore

/// Runs a connection's tasks on the event loop that reads it: whoever resumes one, from whatever thread, brings it back to
/// where its answer is written, and many that are resumed at once wake the loop once.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
