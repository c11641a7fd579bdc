internal import SigningKit
public import StrictJSON

extension DrillFinding {
    /// Reads the head of a drill's record; its other members are passed over.
    public init(from value: JSONValue, file: String) throws(JSONReadError) {
        let object = try value.anyObject()
        func text(_ name: String) throws(JSONReadError) -> String {
            try object.required(name) { value throws(JSONReadError) in try value.string() }
        }
        let version = try object.required("version") { value throws(JSONReadError) in try value.integer() }
        guard version == 1 else { throw JSONReadError(.invalid("is \(version); version 1 is known here")) }
        guard let ended = Timestamp(rfc3339: Array(try text("ended").utf8)) else {
            throw JSONReadError(.invalid("has no time of its end"))
        }
        self.init(
            id: try text("id"), scenario: try text("scenario"), ended: ended, isPassed: try text("verdict") == "passed",
            file: file)
    }
}
