internal import SigningKit
internal import Synchronization

extension Worker {
    /// Runs `body` on this thread while the caller waits for its result.
    ///
    /// - Parameters:
    ///   - milliseconds: after which the caller gets `late`. The call into the token cannot be stopped and continues.
    ///   - watch: the thread that measures the time, because this one may hang.
    ///   - forsaken: receives the value of `body` if the caller no longer waits for it.
    func perform<Value: Sendable>(
        within milliseconds: Int, watchedBy watch: Worker, late: KeyError,
        onAbandoned: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            let answer = Once(continuation)
            run {
                let result = Result { () throws(KeyError) in try body() }
                guard !answer.give(result) else { return }
                if case .success(let value) = result { onAbandoned(value) }
            }
            watch.run(after: milliseconds) { _ = answer.give(.failure(late)) }
        }
        return try result.get()
    }
}

/// A continuation that several threads may resume. Only the first one does.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Mutex(continuation)
    }

    /// - Returns: whether this call was the first.
    func give(_ value: Value) -> Bool {
        guard let continuation = continuation.withLock({ $0.take() }) else { return false }
        continuation.resume(returning: value)
        return true
    }
}
