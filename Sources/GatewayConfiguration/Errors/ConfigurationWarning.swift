/// Something that can be used as it is, but that somebody may have meant otherwise.
public struct ConfigurationWarning: Hashable, Sendable {
    public let origin: ConfigurationOrigin
    /// A sentence that goes on after the place, without its full stop.
    public let sentence: String
}

extension ConfigurationWarning: CustomStringConvertible {
    public var description: String { "\(origin): \(sentence)." }
}
