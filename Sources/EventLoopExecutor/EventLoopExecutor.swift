import CJobHook
import NIOCore
import NIOPosix

/// Runs tasks on NIO's event loops instead of on Swift's pool of threads: a request stays on the loop that reads it.
///
/// NIO has such a thing itself (`unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor`), but runs each job as
/// one of the loop's own serial executor, which it may not leave: then every call of an asynchronous function, and every return from
/// one, goes through the loop's queue, some seventy times for a request. Here a job runs on until it has to wait.
public enum EventLoopExecutor {
    /// Once, before much else runs. Where it cannot be done, tasks go on as they did.
    ///
    /// - Returns: whether it was done.
    @discardableResult
    public static func install() -> Bool {
        // What the hook is called with is known up to here, as for NIO's own.
        #if compiler(<6.4)
            privyseal_take_jobs { job in
                nonisolated(unsafe) let job = job
                // The loop that asks, or else any.
                MultiThreadedEventLoopGroup.singleton.any().execute { privyseal_run_job(job) }
            }
        #else
            false
        #endif
    }
}
