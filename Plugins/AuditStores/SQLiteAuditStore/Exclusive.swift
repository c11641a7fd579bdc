import AuditKit
import Synchronization

/// Something that one thread at a time may use: a connection of SQLite belongs to no thread, but bears one only.
///
/// Unchecked: `value` is touched under the gate alone.
final class Exclusive<Value>: @unchecked Sendable {
    private let gate = Mutex(())
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func use<Outcome>(
        _ body: (inout Value) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        // Not through `withLock`'s result, which would have to be sendable.
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
