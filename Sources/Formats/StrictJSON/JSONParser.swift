/// Parses a text in one pass, and produces a tape of its values.
struct JSONParser {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0
    private(set) var nodes: [JSONNode] = []

    init(_ bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        // Most requests have few members. For a larger text the array grows.
        nodes.reserveCapacity(16)
    }

    mutating func parse() throws(JSONSyntaxError) {
        guard bytes.count <= JSONDocument.maximumLength else {
            throw JSONSyntaxError(.tooLong(limit: JSONDocument.maximumLength), at: JSONDocument.maximumLength)
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw JSONSyntaxError(.byteOrderMark, at: 0)
        }
        do { _ = try UTF8Span(validating: bytes.span) } catch {
            throw JSONSyntaxError(.notUTF8, at: error.byteOffsets.lowerBound)
        }
        skipWhiteSpace()
        guard position < bytes.count else { throw JSONSyntaxError(.empty, at: position) }
        try parseValue(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONSyntaxError(.trailing, at: position) }
    }

    private mutating func parseValue(depth: Int) throws(JSONSyntaxError) {
        switch try peek() {
        case UInt8(ascii: "{"): try parseObject(depth: depth + 1)
        case UInt8(ascii: "["): try parseArray(depth: depth + 1)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "t"): try parseLiteral("true", .boolean)
        case UInt8(ascii: "f"): try parseLiteral("false", .boolean)
        case UInt8(ascii: "n"): try parseLiteral("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        default: throw unexpected("a value")
        }
    }

    // MARK: Objects and arrays

    private mutating func parseObject(depth: Int) throws(JSONSyntaxError) {
        let node = try open(.object, depth: depth)
        skipWhiteSpace()
        if try peek() != UInt8(ascii: "}") {
            repeat {
                skipWhiteSpace()
                guard try peek() == UInt8(ascii: "\"") else {
                    throw unexpected("a member's name in quotation marks")
                }
                try parseString()
                skipWhiteSpace()
                guard try peek() == UInt8(ascii: ":") else { throw unexpected("':'") }
                position += 1
                skipWhiteSpace()
                try parseValue(depth: depth)
                skipWhiteSpace()
            } while try takesComma(before: UInt8(ascii: "}"), "',' or '}'")
        }
        close(node)
        try refuseDuplicates(in: node)
    }

    private mutating func parseArray(depth: Int) throws(JSONSyntaxError) {
        let node = try open(.array, depth: depth)
        skipWhiteSpace()
        if try peek() != UInt8(ascii: "]") {
            repeat {
                skipWhiteSpace()
                try parseValue(depth: depth)
                skipWhiteSpace()
            } while try takesComma(before: UInt8(ascii: "]"), "',' or ']'")
        }
        close(node)
    }

    private mutating func open(_ kind: JSONKind, depth: Int) throws(JSONSyntaxError) -> Int {
        guard depth <= maximumDepth else { throw JSONSyntaxError(.tooDeep(limit: maximumDepth), at: position) }
        let offset = UInt32(truncatingIfNeeded: position)
        nodes.append(JSONNode(start: offset, end: offset, next: 0, kind: kind, isEscaped: false))
        position += 1
        return nodes.count - 1
    }

    /// Called at the closing bracket of `node`.
    private mutating func close(_ node: Int) {
        position += 1
        nodes[node].end = UInt32(truncatingIfNeeded: position)
        nodes[node].next = UInt32(truncatingIfNeeded: nodes.count)
    }

    /// Whether a comma follows, and so another member or element; false at the closing bracket.
    private mutating func takesComma(before closing: UInt8, _ expected: String) throws(JSONSyntaxError) -> Bool {
        let byte = try peek()
        if byte == closing { return false }
        guard byte == UInt8(ascii: ",") else { throw unexpected(expected) }
        position += 1
        return true
    }

    // MARK: Strings

    private mutating func parseString() throws(JSONSyntaxError) {
        let start = position
        var isEscaped = false
        position += 1
        while true {
            skipPlainCharacters()
            guard position < bytes.count else { throw truncated() }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                append(.string, from: start, isEscaped: isEscaped)
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try parseEscape()
            default:
                throw JSONSyntaxError(.controlCharacter(byte: byte), at: position)
            }
        }
    }

    /// Skips characters that need no escape. The whole text is UTF-8, as `parse` has checked.
    private mutating func skipPlainCharacters() {
        var end = position
        while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\""), bytes[end] != UInt8(ascii: "\\")
        {
            end += 1
        }
        position = end
    }

    private mutating func parseEscape() throws(JSONSyntaxError) {
        let start = position
        position += 1
        let letter = try peek()
        if JSONEscape.character(for: letter) != nil {
            position += 1
            return
        }
        guard letter == UInt8(ascii: "u") else { throw unexpected("an escape: one of \" \\ / b f n r t u") }
        let unit = try parseCodeUnit()
        switch unit {
        case 0xDC00...0xDFFF:
            throw JSONSyntaxError(.loneSurrogate, at: start)
        case 0xD800...0xDBFF:
            guard position + 1 < bytes.count else { throw truncated() }
            guard bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u") else {
                throw JSONSyntaxError(.loneSurrogate, at: start)
            }
            position += 1
            guard (0xDC00...0xDFFF).contains(try parseCodeUnit()) else {
                throw JSONSyntaxError(.loneSurrogate, at: start)
            }
        default: break
        }
    }

    /// `u` and four hexadecimal digits.
    private mutating func parseCodeUnit() throws(JSONSyntaxError) -> UInt32 {
        position += 1
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = JSONEscape.digit(try peek()) else {
                throw unexpected("a hexadecimal digit")
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    // MARK: Numbers and literals

    private mutating func parseNumber() throws(JSONSyntaxError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if try peek() == UInt8(ascii: "0") {
            position += 1
        } else {
            try parseDigits()
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try parseDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try peek()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try parseDigits()
        }
        append(.number, from: start, isEscaped: false)
    }

    private mutating func parseDigits() throws(JSONSyntaxError) {
        guard Self.isDigit(try peek()) else { throw unexpected("a digit") }
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    }

    private mutating func parseLiteral(_ literal: String, _ kind: JSONKind) throws(JSONSyntaxError) {
        let start = position
        for byte in literal.utf8 {
            guard try peek() == byte else { throw unexpected(literal) }
            position += 1
        }
        append(kind, from: start, isEscaped: false)
    }

    // MARK: Helpers

    private mutating func append(_ kind: JSONKind, from start: Int, isEscaped: Bool) {
        nodes.append(
            JSONNode(
                start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: position),
                next: UInt32(truncatingIfNeeded: nodes.count + 1),
                kind: kind,
                isEscaped: isEscaped
            ))
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func peek() throws(JSONSyntaxError) -> UInt8 {
        guard position < bytes.count else { throw truncated() }
        return bytes[position]
    }

    private func truncated() -> JSONSyntaxError { JSONSyntaxError(.truncated, at: bytes.count) }

    private func unexpected(_ expected: String) -> JSONSyntaxError {
        JSONSyntaxError(.unexpected(byte: bytes[position], expected: expected), at: position)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

// MARK: Duplicate members

extension JSONParser {
    /// RFC 8259 §4 leaves the meaning of duplicate names open, so two parsers could read two requests.
    private func refuseDuplicates(in object: Int) throws(JSONSyntaxError) {
        var count = 0
        var name = object + 1
        while name < nodes.count {
            // Comparing pairs is fastest for a few members. A hostile object with thousands gets a hash table.
            guard count < 16 else { return try refuseDuplicatesAmongMany(in: object) }
            var earlier = object + 1
            while earlier < name {
                if areEqual(earlier, name) { throw duplicate(name) }
                earlier = Int(nodes[earlier + 1].next)
            }
            count += 1
            name = Int(nodes[name + 1].next)
        }
    }

    private func refuseDuplicatesAmongMany(in object: Int) throws(JSONSyntaxError) {
        var seen: Set<[UInt8]> = []
        var name = object + 1
        while name < nodes.count {
            guard seen.insert(characters(of: name)).inserted else { throw duplicate(name) }
            name = Int(nodes[name + 1].next)
        }
    }

    private func areEqual(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (nodes[left], nodes[right])
        if !first.isEscaped, !second.isEscaped {
            guard first.end - first.start == second.end - second.start else { return false }
            return bytes[Int(first.start)..<Int(first.end)] == bytes[Int(second.start)..<Int(second.end)]
        }
        return characters(of: left) == characters(of: right)
    }

    private func characters(of name: Int) -> [UInt8] {
        let content = bytes[Int(nodes[name].start) + 1..<Int(nodes[name].end) - 1]
        return nodes[name].isEscaped ? JSONEscape.resolve(content) : Array(content)
    }

    private func duplicate(_ name: Int) -> JSONSyntaxError {
        JSONSyntaxError(
            .duplicateMember(String(decoding: characters(of: name), as: UTF8.self).excerpt), at: Int(nodes[name].start))
    }
}
