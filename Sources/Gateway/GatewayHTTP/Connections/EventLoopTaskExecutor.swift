import NIOCore

/// Runs the tasks of a connection on its event loop: from the request to the answer there is no change of thread, except
/// for a token and the audit log (docs/adr/0043).
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
