package import Dispatch

extension DispatchQueue {
    /// Makes a blocking call on this queue, and waits for it without a thread.
    package func call<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            self.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
