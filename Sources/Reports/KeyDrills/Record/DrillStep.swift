public import SigningKit
public import StrictJSON

/// A step of a drill, with its expected and actual result.
public struct DrillStep: Sendable, Equatable {
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

extension DrillStep: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            title: try object.text("title"), expected: try object.text("expected"), actual: try object.text("actual"),
            begun: try object.time("begun"), ended: try object.time("ended"), verdict: try object.choice("verdict"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("title", title)
            writer.member("expected", expected)
            writer.member("actual", actual)
            writer.member("begun", begun)
            writer.member("ended", ended)
            writer.member("verdict", verdict.rawValue)
        }
    }
}
