public import SigningKit

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
