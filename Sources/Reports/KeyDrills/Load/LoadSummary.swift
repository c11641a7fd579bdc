public import SigningKit
public import StrictJSON

/// The outcomes of the load's requests.
public struct LoadSummary: Sendable, Equatable {
    /// A period of the drill. All intervals have the same length.
    public struct Interval: Sendable, Equatable {
        public var begin: Timestamp
        public var served: Int
        public var failed: Int
        /// The served requests by key ID.
        public var byKey: [String: Int]

        public init(begin: Timestamp, served: Int = 0, failed: Int = 0, byKey: [String: Int] = [:]) {
            self.begin = begin
            self.served = served
            self.failed = failed
            self.byKey = byKey
        }
    }

    /// Signed, with a verified signature.
    public var served: Int
    /// Not signed: refused, or not answered.
    public var failed: Int
    /// The failed requests outside the drill's outages.
    public var unexcused: Int
    public var wronglySigned: Int
    /// The served requests by key ID.
    public var byKey: [String: Int]
    /// The failed requests by reason: the HTTP status, or why there was no answer.
    public var byReason: [String: Int]
    /// In milliseconds.
    public var intervalLength: Int
    public var intervals: [Interval]

    public init(
        served: Int, failed: Int, unexcused: Int, wronglySigned: Int, byKey: [String: Int], byReason: [String: Int],
        intervalLength: Int, intervals: [Interval]
    ) {
        self.served = served
        self.failed = failed
        self.unexcused = unexcused
        self.wronglySigned = wronglySigned
        self.byKey = byKey
        self.byReason = byReason
        self.intervalLength = intervalLength
        self.intervals = intervals
    }
}

extension LoadSummary: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            served: Int(try object.number("served")), failed: Int(try object.number("failed")),
            unexcused: Int(try object.number("failedUnexcused")),
            wronglySigned: Int(try object.number("wronglySigned")),
            byKey: try object.counts("byKey"), byReason: try object.counts("byReason"),
            intervalLength: Int(try object.number("intervalMs")), intervals: try object.list("intervals"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("served", served)
            writer.member("failed", failed)
            writer.member("failedUnexcused", unexcused)
            writer.member("wronglySigned", wronglySigned)
            writer.member("byKey", byKey)
            writer.member("byReason", byReason)
            writer.member("intervalMs", intervalLength)
            writer.list("intervals", intervals)
        }
    }
}

extension LoadSummary.Interval: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            begin: try object.time("at"), served: Int(try object.number("served")),
            failed: Int(try object.number("failed")), byKey: try object.counts("byKey"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", begin)
            writer.member("served", served)
            writer.member("failed", failed)
            writer.member("byKey", byKey)
        }
    }
}
