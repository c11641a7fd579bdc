import StrictJSON

/// A JSON value from either reader. Strings are compared by their bytes, because Swift's `==` treats canonically
/// equivalent strings as equal.
enum JSONTree: Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case string([UInt8])
    case array([JSONTree])
    case object([[UInt8]: JSONTree])
}

extension JSONTree {
    init(_ value: JSONValue) throws {
        switch value.kind {
        case .null: self = .null
        case .boolean: self = .boolean(try value.boolean())
        case .number: self = .number(Double(String(decoding: value.rawBytes, as: UTF8.self)) ?? .nan)
        case .string: self = .string(Array(try value.string().utf8))
        case .array: self = .array(try value.elements().map(JSONTree.init))
        case .object:
            let members = try value.anyObject().members.map { (Array($0.name.utf8), try JSONTree($0.value)) }
            self = .object(Dictionary(members) { first, _ in first })
        }
    }
}

extension JSONTree: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(Array(value.utf8))
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else if let value = try? container.decode([String: JSONTree].self) {
            self = .object(Dictionary(value.map { (Array($0.key.utf8), $0.value) }) { first, _ in first })
        } else {
            self = .number(try container.decode(Double.self))
        }
    }
}
