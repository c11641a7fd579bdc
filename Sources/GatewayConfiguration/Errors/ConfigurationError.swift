/// The configuration cannot be used. It holds everything that was found, so that one run shows all there is to mend.
public struct ConfigurationError: Error, Hashable, Sendable {
    /// At least one, in the order of their lines.
    public let faults: [ConfigurationFault]
    /// SHA-256 of the file, 32 bytes; nil where it could not be read.
    public var digest: [UInt8]?

    init(_ faults: [ConfigurationFault]) {
        self.faults = faults
    }

    /// More faults than this are counted, not listed: they follow from one mistake, or the file is another one.
    static let listed = 50
}

extension ConfigurationError: CustomStringConvertible {
    /// One line for each fault.
    public var description: String {
        var lines = faults.prefix(Self.listed).map(\.description)
        if faults.count > Self.listed { lines.append("… and \(faults.count - Self.listed) more.") }
        return lines.joined(separator: "\n")
    }
}
