public import SigningKit

/// A step of a drill, with its expected and actual result.
public struct DrillStep: Codable, Sendable, Equatable {
    public var title: String
    public var expected: String
    public var actual: String
    public var begun: Timestamp
    public var ended: Timestamp
    public var verdict: DrillVerdict
}
