import AuditKit
import Synchronization

/// A value for one thread at a time, such as an SQLite connection, which belongs to no thread. `gate` protects `value`.
final class Exclusive<Value>: @unchecked Sendable {
    private let gate = Mutex(())
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func use<Outcome>(
        _ body: (inout Value) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        // The result of `withLock` would have to be sendable.
        var outcome: Result<Outcome, AuditStoreError> = .failure(.closed)
        gate.withLock { _ in
            do throws(AuditStoreError) {
                outcome = .success(try body(&value))
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }
}
