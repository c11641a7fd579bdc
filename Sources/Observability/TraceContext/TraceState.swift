/// The field `tracestate` (W3C Trace Context §3.3): members `key=value`, separated by commas. None are ours. The field
/// is propagated unchanged or not at all.
enum TraceState {
    /// The length that every system should propagate (§3.3.1.5). The standard allows dropping longer fields.
    private static let longest = 512
    /// Empty members count (§3.3.1.1).
    private static let mostMembers = 32

    /// - Returns: the text without surrounding white space; nil if it is empty, malformed or too long.
    static func accept(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { characters in
            let trimmed = trim(characters[...])
            guard (1...longest).contains(trimmed.count), isWellFormed(trimmed) else { return nil }
            return String(decoding: trimmed, as: UTF8.self)
        }
    }

    private typealias Characters = Slice<UnsafeBufferPointer<UInt8>>

    /// Accepts duplicate keys. The check would cost more than a duplicate harms, and its writer made the error.
    private static func isWellFormed(_ list: Characters) -> Bool {
        let members = list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard members.count <= mostMembers else { return false }
        var hasMember = false
        for member in members.map(trim) where !member.isEmpty {
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")),
                isKey(member[..<equals]), isValue(member[member.index(after: equals)...])
            else { return false }
            hasMember = true
        }
        return hasMember
    }

    /// `key`: up to 256 characters, the first a letter; or a tenant of up to 241, `@`, and a system of up to 14.
    private static func isKey(_ key: Characters) -> Bool {
        guard key.allSatisfy({ isKeyCharacter($0) || $0 == UInt8(ascii: "@") }), let first = key.first else {
            return false
        }
        guard let at = key.firstIndex(of: UInt8(ascii: "@")) else { return key.count <= 256 && isLetter(first) }
        let system = key[key.index(after: at)...]
        guard let systemFirst = system.first, !system.contains(UInt8(ascii: "@")) else { return false }
        return (1...241).contains(key[..<at].count) && (isLetter(first) || isDigit(first))
            && system.count <= 14 && isLetter(systemFirst)
    }

    /// `value`: 1 to 256 printable ASCII characters without comma and equals sign. The last one is not a space.
    private static func isValue(_ value: Characters) -> Bool {
        (1...256).contains(value.count)
            && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }

    private static func isKeyCharacter(_ character: UInt8) -> Bool {
        isLetter(character) || isDigit(character) || "_-*/".utf8.contains(character)
    }

    private static func isLetter(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }

    /// Removes optional white space: spaces and tabs (RFC 9110 §5.6.3).
    private static func trim(_ characters: Characters) -> Characters {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var rest = characters.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}
