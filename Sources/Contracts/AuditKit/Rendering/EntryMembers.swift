import StrictJSON

/// The members of an entry, in their order.
struct EntryMembers {
    /// `value` is JSON.
    let all: [(name: String, value: [UInt8])]

    /// Nil unless the bytes are a canonical entry. Canonical bytes have no control characters, so an entry is one line.
    init?(_ body: [UInt8]) {
        guard body.allSatisfy({ $0 >= 0x20 }), let members = EntryScanner.members(of: body) else { return nil }
        all = members.map { (String(decoding: body[$0.name], as: UTF8.self), Array(body[$0.value])) }
    }

    /// The text form of a value: the content of a string, the elements of a list, the members of an object, or
    /// otherwise the JSON. Values nested too deeply for an entry stay JSON, too.
    ///
    /// - Parameter depth: the number of nesting levels to expand.
    static func text(_ value: [UInt8], depth: Int = 4) -> String {
        guard depth > 0 else { return String(decoding: value, as: UTF8.self) }
        return switch value.first {
        case UInt8(ascii: "\""): EntryScanner.text(value[...]) ?? String(decoding: value, as: UTF8.self)
        case UInt8(ascii: "["):
            EntryScanner.elements(of: value[...]).map { text(Array($0), depth: depth - 1) }.joined(separator: ", ")
        case UInt8(ascii: "{"):
            (EntryMembers(value)?.all ?? []).map { "\($0.name) \(text($0.value, depth: depth - 1))" }.joined(
                separator: ", ")
        default: String(decoding: value, as: UTF8.self)
        }
    }
}
