import Synchronization

/// A value for one thread at a time, such as a database connection, which belongs to no thread. `gate` protects `value`.
package final class Exclusive<Value>: @unchecked Sendable {
    private let gate = Mutex(())
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func use<Outcome>(
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
