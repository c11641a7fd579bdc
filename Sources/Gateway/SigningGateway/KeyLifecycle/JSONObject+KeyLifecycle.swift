import SigningKit
import StrictJSON

extension JSONObject {
    /// Empty without the member.
    func texts(_ name: String) throws(JSONReadError) -> [String: String] {
        try optional(name) { value throws(JSONReadError) in
            let object = try value.anyObject()
            var texts: [String: String] = [:]
            for name in object.names { texts[name] = try object.text(name) }
            return texts
        } ?? [:]
    }

    /// Empty without the member.
    func optionalTextList(_ name: String) throws(JSONReadError) -> [String] {
        try optional(name) { value throws(JSONReadError) in
            try value.elements { element throws(JSONReadError) in try element.string() }
        } ?? []
    }

    /// Nil without the member. A text that is not a fingerprint is an error.
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
    /// Writes the texts in the order of their names.
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
