import StrictJSON

/// The members of an entry in the order in which they stand, for those who show all of them.
struct EntryMembers {
    /// `value` is JSON.
    let all: [(name: String, value: [UInt8])]

    /// Nil for what is no entry in canonical form. Canonical bytes have no control characters, so that an entry is a line.
    init?(_ body: [UInt8]) {
        guard body.allSatisfy({ $0 >= 0x20 }), let members = EntryScanner.members(of: body) else { return nil }
        all = members.map { (String(decoding: body[$0.name], as: UTF8.self), Array(body[$0.value])) }
    }

    /// What a person reads for a value: the text of a string, the elements of a list, the members of an object, or else
    /// the JSON itself. So it is with what is nested more deeply than an entry ever is.
    ///
    /// - Parameter depth: how many levels may follow.
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
