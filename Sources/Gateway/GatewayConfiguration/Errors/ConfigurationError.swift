/// The configuration cannot be used. The error has all faults, so that one run shows everything to correct.
public struct ConfigurationError: Error, Hashable, Sendable {
    /// At least one, sorted by line.
    public let faults: [ConfigurationFinding]
    /// The SHA-256 of the file, 32 bytes; nil if the file could not be read.
    public var digest: [UInt8]?

    init(_ faults: [ConfigurationFinding]) {
        self.faults = faults
    }

    /// The maximum number of listed faults. More faults follow from one mistake or from a wrong file, and are counted.
    static let listed = 50
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String {
        var lines = faults.prefix(Self.listed).map(\.description)
        if faults.count > Self.listed { lines.append("… and \(faults.count - Self.listed) more.") }
        return lines.joined(separator: "\n")
    }
}

/// A mistake in the configuration, or a valid setting that may be one: origin, description and remedy. It never contains
/// the text of a key's URI.
public struct ConfigurationFinding: Hashable, Sendable {
    public let origin: ConfigurationOrigin
    /// Continues a sentence after the origin, without the full stop.
    public let sentence: String
}

extension ConfigurationFinding: CustomStringConvertible {
    /// Such as `gateway.yaml:14: accounts[0].keys[1].uri: is missing; …`
    public var description: String { "\(origin): \(sentence)." }
}
