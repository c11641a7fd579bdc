import SigningKit
import StrictJSON

/// What the records of key life have besides: texts by name.
extension JSONObject {
    /// Empty where there are none.
    func texts(_ name: String) throws(JSONReadError) -> [String: String] {
        try optional(name) { value throws(JSONReadError) in
            let object = try value.anyObject()
            var texts: [String: String] = [:]
            for name in object.names { texts[name] = try object.text(name) }
            return texts
        } ?? [:]
    }
}

extension JSONWriter {
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
