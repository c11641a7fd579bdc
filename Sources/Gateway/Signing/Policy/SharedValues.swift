public import SigningKit
import StrictJSON
import Synchronization

/// Values that the gateways of a fleet share, such as what a client has used of its limits.
public protocol SharedValues: Sendable {
    /// Replaces a value. Changes of one value come one after the other.
    ///
    /// - Parameter change: from the value, nil at first, and the time of the fleet, to the new value.
    /// - Returns: false if the value could not be replaced.
    func update(_ name: String, _ change: @escaping @Sendable ([UInt8]?, Timestamp) -> [UInt8]) async -> Bool

    /// Encrypts a secret for the other gateways, with a key that the database does not have.
    ///
    /// - Parameter name: the value's. `open` needs the same.
    func seal(_ secret: [UInt8], as name: String) -> [UInt8]?

    /// Nil if the bytes were not sealed with the fleet's key and this name.
    func open(_ sealed: [UInt8], as name: String) -> [UInt8]?
}

extension SharedValues {
    /// Replaces a value that is kept as JSON.
    ///
    /// - Parameter change: from the value, nil at first and if it cannot be read, to the new value and a result.
    /// - Returns: the result; nil if the value could not be replaced.
    package func change<Value: Codable & Sendable, Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (Value?, Timestamp) -> (Value, Outcome)
    ) async -> Outcome? {
        let outcome = Mutex<Outcome?>(nil)
        let isDone = await update(name) { bytes, time in
            let (value, result) = change(bytes.flatMap { try? JSONDocument(parsing: $0).root.decode() }, time)
            outcome.withLock { $0 = result }
            return JSONText.encode(value)
        }
        return isDone ? outcome.withLock { $0 } : nil
    }
}
