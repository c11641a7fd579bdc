internal import SigningKit
internal import Synchronization

extension Worker {
    /// Runs `body` on this thread, for as long as its caller waits for it.
    ///
    /// - Parameters:
    ///   - milliseconds: after which the caller gets `late`. The call into the token goes on: nobody can stop it.
    ///   - watch: another thread, because this one may hang.
    ///   - forsaken: gets what `body` made after its caller was gone.
    func perform<Value: Sendable>(
        within milliseconds: Int, watchedBy watch: Worker, late: KeyError,
        forsaken: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            let answer = Once(continuation)
            run {
                let result = Result { () throws(KeyError) in try body() }
                guard !answer.give(result) else { return }
                if case .success(let value) = result { forsaken(value) }
            }
            watch.run(after: milliseconds) { _ = answer.give(.failure(late)) }
        }
        return try result.get()
    }
}

/// A continuation that several may resume; the first does.
private final class Once<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Mutex(continuation)
    }

    /// - Returns: whether this was the first.
    func give(_ value: Value) -> Bool {
        guard let continuation = continuation.withLock({ $0.take() }) else { return false }
        continuation.resume(returning: value)
        return true
    }
}
