internal import SigningKit
public import StrictJSON

extension DrillFinding {
    /// Reads the members of a drill record that the report needs, and ignores the others.
    public init(from value: JSONValue, file: String, digest: String) throws(JSONReadError) {
        let object = try value.anyObject()
        func text(_ name: String) throws(JSONReadError) -> String {
            try object.required(name) { value throws(JSONReadError) in try value.string() }
        }
        let version = try object.required("version") { value throws(JSONReadError) in try value.integer() }
        guard version == 1 else { throw JSONReadError(.invalid("is \(version); only version 1 is supported")) }
        guard let ended = Timestamp(rfc3339: Array(try text("ended").utf8)) else {
            throw JSONReadError(.invalid("has no end time"))
        }
        let isTemporary = try object.required("gateway") { value throws(JSONReadError) in
            try value.anyObject().required("throwAway") { value throws(JSONReadError) in try value.boolean() }
        }
        let checkpoint = try object.optional("audit") { value throws(JSONReadError) in
            try value.anyObject().required("checkpoint") { value throws(JSONReadError) in try value.string() }
        }
        self.init(
            id: try text("id"), scenario: try text("scenario"), ended: ended, isPassed: try text("verdict") == "passed",
            isTemporary: isTemporary, checkpoint: checkpoint, file: file, digest: digest)
    }
}
