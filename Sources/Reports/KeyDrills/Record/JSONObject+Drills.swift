import SigningKit
import StrictJSON

extension JSONObject {
    func number(_ name: String) throws(JSONReadError) -> Int64 {
        try required(name) { value throws(JSONReadError) in try value.integer() }
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
    mutating func list(_ name: StaticString, _ elements: [some JSONWritable]) {
        self.name(name)
        array { writer in for element in elements { element.write(to: &writer) } }
    }

    /// Writes the counts in the order of their names.
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
