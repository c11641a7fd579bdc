public import SigningKit

/// A step of a drill, with its expected and actual result.
public struct DrillStep: Codable, Sendable, Equatable {
    public var title: String
    public var expected: String
    public var actual: String
    public var begun: Timestamp
    public var ended: Timestamp
    public var verdict: DrillVerdict

    public init(
        title: String, expected: String, actual: String, begun: Timestamp, ended: Timestamp, verdict: DrillVerdict
    ) {
        self.title = title
        self.expected = expected
        self.actual = actual
        self.begun = begun
        self.ended = ended
        self.verdict = verdict
    }
}
