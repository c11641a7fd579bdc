/// A valid setting that may not be what the operator intends.
public struct ConfigurationWarning: Hashable, Sendable {
    public let origin: ConfigurationOrigin
    /// Continues a sentence after the origin, without the full stop.
    public let sentence: String
}

extension ConfigurationWarning: CustomStringConvertible {
    public var description: String { "\(origin): \(sentence)." }
}
