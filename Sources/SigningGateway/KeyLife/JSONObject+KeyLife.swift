import SigningKit
import StrictJSON

/// How the records of key life read their members.
extension JSONObject {
    func text(_ name: String) throws(JSONReadError) -> String {
        try required(name) { value throws(JSONReadError) in try value.string() }
    }

    func optionalText(_ name: String) throws(JSONReadError) -> String? {
        try optional(name) { value throws(JSONReadError) in try value.string() }
    }

    func flag(_ name: String) throws(JSONReadError) -> Bool {
        try required(name) { value throws(JSONReadError) in try value.boolean() }
    }

    func time(_ name: String) throws(JSONReadError) -> Timestamp {
        try required(name, Self.time)
    }

    func optionalTime(_ name: String) throws(JSONReadError) -> Timestamp? {
        try optional(name, Self.time)
    }

    func choice<Choice: RawRepresentable<String> & SendableMetatype>(_ name: String) throws(JSONReadError) -> Choice {
        try required(name) { value throws(JSONReadError) in try Self.choice(value) }
    }

    func optionalChoice<Choice: RawRepresentable<String> & SendableMetatype>(
        _ name: String
    ) throws(JSONReadError) -> Choice? {
        try optional(name) { value throws(JSONReadError) in try Self.choice(value) }
    }

    func list<Element: JSONReadable>(_ name: String) throws(JSONReadError) -> [Element] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try Element(from: element) }
        }
    }

    func textList(_ name: String) throws(JSONReadError) -> [String] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try element.string() }
        }
    }

    /// Empty where there are none.
    func texts(_ name: String) throws(JSONReadError) -> [String: String] {
        try optional(name) { value throws(JSONReadError) in
            let object = try value.anyObject()
            var texts: [String: String] = [:]
            for name in object.names { texts[name] = try object.text(name) }
            return texts
        } ?? [:]
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
        guard let choice = Choice(rawValue: try value.string()) else {
            throw JSONReadError(.invalid("is not one of the values that are known here"))
        }
        return choice
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ time: Timestamp) { member(name, unescaped: time.rfc3339) }

    /// In the order of their names.
    mutating func member(_ name: StaticString, _ texts: [String: String]) {
        self.name(name)
        object { writer in
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.string(text)
            }
        }
    }
}
