import Synchronization

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
