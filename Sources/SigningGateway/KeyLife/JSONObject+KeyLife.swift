import SigningKit
import StrictJSON

/// What the records of key life have besides: texts by name, and fingerprints.
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

    /// Empty where there is none.
    func optionalTextList(_ name: String) throws(JSONReadError) -> [String] {
        try optional(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try element.string() }
        } ?? []
    }

    /// Nil where there is none; a text that is no fingerprint is an error.
    func optionalFingerprint(_ name: String) throws(JSONReadError) -> PublicKeyFingerprint? {
        try optional(name) { value throws(JSONReadError) in
            guard let fingerprint = PublicKeyFingerprint(try value.string()) else {
                throw JSONReadError(.invalid("must be sha256: and 64 hexadecimal digits"))
            }
            return fingerprint
        }
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

    mutating func member(_ name: StaticString, _ texts: [String]) {
        self.name(name)
        array { writer in for text in texts { writer.string(text) } }
    }
}
