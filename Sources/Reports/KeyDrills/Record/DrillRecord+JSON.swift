import SigningKit
public import StrictJSON

extension DrillRecord: JSONReadable, JSONWritable {
    static let version: Int64 = 1

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        let version = try object.number("version")
        guard version == Self.version else {
            throw JSONReadError(.invalid("is \(version); only records of version 1 are supported"), at: "version")
        }
        let keys = try object.required("keys") { value throws(JSONReadError) in try value.anyObject() }
        self.init(
            id: try object.text("id"), scenario: try object.choice("scenario"), isPlanned: try object.flag("planned"),
            participants: try object.list("participants"),
            gateway: try object.required("gateway", Gateway.init(from:)),
            begun: try object.time("begun"), ended: try object.time("ended"), steps: try object.list("steps"),
            timings: try Self.timings(try object.counts("timings")),
            load: try object.required("load", LoadSummary.init(from:)), proofs: try object.list("proofs"),
            audit: try object.optional("audit", AuditRange.init(from:)),
            deviations: try object.textList("deviations"), oldKey: try keys.optionalText("old"),
            newKey: try keys.optionalText("new"), keySpans: try keys.list("states"))
    }

    /// Ignores unknown names, which a later version of the program wrote.
    private static func timings(_ counts: [String: Int]) throws(JSONReadError) -> [DrillTiming: Int] {
        var timings: [DrillTiming: Int] = [:]
        for (name, milliseconds) in counts {
            if let timing = DrillTiming(exactly: name) { timings[timing] = milliseconds }
        }
        return timings
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("version", Self.version)
            writer.member("id", id)
            writer.member("scenario", scenario.rawValue)
            writer.member("planned", isPlanned)
            writer.list("participants", participants)
            writer.name("gateway")
            gateway.write(to: &writer)
            writer.member("begun", begun)
            writer.member("ended", ended)
            writer.member("verdict", verdict.rawValue)
            writer.list("steps", steps)
            writer.name("timings")
            writer.object { writer in
                for timing in DrillTiming.allCases {
                    guard let milliseconds = timings[timing] else { continue }
                    writer.name(escaping: timing.rawValue)
                    writer.integer(milliseconds)
                }
            }
            writer.name("load")
            load.write(to: &writer)
            writer.list("proofs", proofs)
            if let audit {
                writer.name("audit")
                audit.write(to: &writer)
            }
            writer.name("deviations")
            writer.array { writer in for sentence in deviations { writer.string(sentence) } }
            writer.name("keys")
            writer.object { writer in
                if let oldKey { writer.member("old", oldKey) }
                if let newKey { writer.member("new", newKey) }
                writer.list("states", keySpans)
            }
        }
    }
}

extension DrillRecord.Participant: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(name: try object.text("name"), role: try object.text("role"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("role", role)
        }
    }
}

extension DrillRecord.Gateway: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            version: try object.text("version"), address: try object.text("address"),
            configuration: try object.optionalText("configuration"), isTemporary: try object.flag("throwAway"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("version", version)
            writer.member("address", address)
            if let configuration { writer.member("configuration", configuration) }
            writer.member("throwAway", isTemporary)
        }
    }
}

extension DrillRecord.Proof: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            kind: try object.text("kind"), subject: try object.text("subject"), detail: try object.text("detail"),
            time: try object.time("at"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("kind", kind)
            writer.member("subject", subject)
            writer.member("detail", detail)
            writer.member("at", time)
        }
    }
}

extension DrillRecord.AuditRange: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            first: Int(try object.number("first")), last: Int(try object.number("last")),
            checkpoint: try object.text("checkpoint"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("first", first)
            writer.member("last", last)
            writer.member("checkpoint", checkpoint)
        }
    }
}

extension DrillRecord.KeyStateSpan: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            keyID: try object.text("keyId"), state: try object.text("state"), begin: try object.time("from"),
            end: try object.time("to"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyId", keyID)
            writer.member("state", state)
            writer.member("from", begin)
            writer.member("to", end)
        }
    }
}
