public import StrictJSON

/// Readers for members of records, by name. Every error names the member.
extension JSONObject {
    public func text(_ name: String) throws(JSONReadError) -> String {
        try required(name) { value throws(JSONReadError) in try value.string() }
    }

    public func optionalText(_ name: String) throws(JSONReadError) -> String? {
        try optional(name) { value throws(JSONReadError) in try value.string() }
    }

    public func flag(_ name: String) throws(JSONReadError) -> Bool {
        try required(name) { value throws(JSONReadError) in try value.boolean() }
    }

    public func optionalFlag(_ name: String) throws(JSONReadError) -> Bool? {
        try optional(name) { value throws(JSONReadError) in try value.boolean() }
    }

    public func time(_ name: String) throws(JSONReadError) -> Timestamp {
        try required(name) { value throws(JSONReadError) in try Self.time(value) }
    }

    public func optionalTime(_ name: String) throws(JSONReadError) -> Timestamp? {
        try optional(name) { value throws(JSONReadError) in try Self.time(value) }
    }

    public func choice<Choice: RawRepresentable<String> & SendableMetatype>(
        _ name: String
    ) throws(JSONReadError) -> Choice {
        try required(name) { value throws(JSONReadError) in try Self.choice(value) }
    }

    public func optionalChoice<Choice: RawRepresentable<String> & SendableMetatype>(
        _ name: String
    ) throws(JSONReadError) -> Choice? {
        try optional(name) { value throws(JSONReadError) in try Self.choice(value) }
    }

    public func list<Element: JSONReadable>(_ name: String) throws(JSONReadError) -> [Element] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try Element(from: element) }
        }
    }

    public func textList(_ name: String) throws(JSONReadError) -> [String] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try element.string() }
        }
    }

    private static func time(_ value: JSONValue) throws(JSONReadError) -> Timestamp {
        guard let time = Timestamp(rfc3339: Array(try value.string().utf8)) else {
            throw JSONReadError(.invalid("must be a time in UTC, such as 2026-11-21T12:00:00.000Z"))
        }
        return time
    }

    private static func choice<Choice: RawRepresentable<String> & SendableMetatype>(
        _ value: JSONValue
    ) throws(JSONReadError) -> Choice {
        guard let choice = Choice(exactly: try value.string()) else {
            throw JSONReadError(.invalid("is not a known value"))
        }
        return choice
    }
}

extension JSONWriter {
    /// Writes RFC 3339 in UTC, with milliseconds.
    public mutating func member(_ name: StaticString, _ time: Timestamp) { member(name, unescaped: time.rfc3339) }
}
