public import StrictJSON

extension DrillRecord {
    private static let version = 1

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        let version: Int = try object.decode("version")
        guard version == Self.version else {
            throw JSONReadError(.invalid("is \(version); only records of version 1 are supported"), at: "version")
        }
        let keys = try object.required("keys") { value throws(JSONReadError) in try value.anyObject() }
        // Ignores timings with unknown names, which a later version of the program wrote.
        let timings: [String: Int] = try object.decode("timings")
        self.init(
            id: try object.decode("id"), scenario: try object.decode("scenario"),
            isPlanned: try object.decode("planned"), participants: try object.decode("participants"),
            gateway: try object.decode("gateway"), begun: try object.decode("begun"),
            ended: try object.decode("ended"), steps: try object.decode("steps"),
            timings: Dictionary(
                DrillTiming.allCases.compactMap { timing in timings[timing.rawValue].map { (timing, $0) } }
            ) { first, _ in first },
            load: try object.decode("load"), proofs: try object.decode("proofs"),
            audit: try object.decodeIfPresent("audit"), deviations: try object.decode("deviations"),
            oldKey: try keys.decodeIfPresent("old"), newKey: try keys.decodeIfPresent("new"),
            keySpans: try keys.decode("states"))
    }

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "version": Self.version,
            "id": id,
            "scenario": scenario,
            "planned": isPlanned,
            "participants": participants,
            "gateway": gateway,
            "begun": begun,
            "ended": ended,
            "verdict": verdict,
            "steps": steps,
            "timings": JSONMembers(DrillTiming.allCases.map { ($0.rawValue, timings[$0]) }),
            "load": load,
            "proofs": proofs,
            "audit": audit,
            "deviations": deviations,
            "keys": ["old": oldKey, "new": newKey, "states": keySpans] as JSONMembers,
        ]
        try members.encode(to: encoder)
    }
}
