import SigningKit
import StrictJSON

/// How drill records read their members.
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

    func number(_ name: String) throws(JSONReadError) -> Int64 {
        try required(name) { value throws(JSONReadError) in try value.integer() }
    }

    func time(_ name: String) throws(JSONReadError) -> Timestamp {
        try required(name) { value throws(JSONReadError) in
            guard let time = Timestamp(rfc3339: Array(try value.string().utf8)) else {
                throw JSONReadError(.invalid("must be a time in UTC, such as 2026-11-21T12:00:00.000Z"))
            }
            return time
        }
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String) throws(JSONReadError) -> Choice {
        try required(name) { value throws(JSONReadError) in
            guard let choice = Choice(rawValue: try value.string()) else {
                throw JSONReadError(.invalid("is not one of the values that are known here"))
            }
            return choice
        }
    }

    func list<Element: JSONReadable>(_ name: String) throws(JSONReadError) -> [Element] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try Element(from: element) }
        }
    }

    func texts(_ name: String) throws(JSONReadError) -> [String] {
        try required(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try element.string() }
        }
    }

    func counts(_ name: String) throws(JSONReadError) -> [String: Int] {
        try required(name) { value throws(JSONReadError) in
            let object = try value.anyObject()
            var counts: [String: Int] = [:]
            for name in object.names { counts[name] = Int(try object.number(name)) }
            return counts
        }
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ time: Timestamp) { member(name, unescaped: time.rfc3339) }

    mutating func list(_ name: StaticString, _ elements: [some JSONWritable]) {
        self.name(name)
        array { writer in for element in elements { element.write(to: &writer) } }
    }

    /// In the order of their names.
    mutating func member(_ name: StaticString, _ counts: [String: Int]) {
        self.name(name)
        object { writer in
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.integer(count)
            }
        }
    }
}
