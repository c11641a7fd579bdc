import StrictJSON

/// Scans canonical JSON, which has no white space. The scan ends at the first byte that does not fit.
struct EntryScanner {
    /// The byte ranges of an object's member. The name's range excludes the quotation marks.
    struct Member {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The scan reads each byte several times, and array bounds checks would double its time. `peek` never reads beyond
    /// the last byte, and every range returned ends at or before `bytes.count`.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The members of an object. Nil unless the object is all of the bytes.
    static func members(of object: [UInt8]) -> [Member]? {
        object.withUnsafeBufferPointer { bytes in
            var scanner = EntryScanner(bytes)
            return scanner.members()
        }
    }

    private mutating func members() -> [Member]? {
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [Member] = []
        members.reserveCapacity(16)
        if take(UInt8(ascii: "}")) { return position == bytes.count ? members : nil }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")), let value = value() else { return nil }
            members.append(Member(name: name.lowerBound + 1..<name.upperBound - 1, value: value))
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) && position == bytes.count ? members : nil
    }

    /// The elements of a list; empty if the bytes are not a list.
    static func elements(of list: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let places = list.withUnsafeBufferPointer { bytes -> [Range<Int>] in
            var scanner = EntryScanner(bytes)
            guard scanner.take(UInt8(ascii: "[")), scanner.peek != UInt8(ascii: "]") else { return [] }
            var places: [Range<Int>] = []
            repeat {
                guard let place = scanner.value() else { return [] }
                places.append(place)
            } while scanner.take(UInt8(ascii: ","))
            return places
        }
        return places.map { list[list.startIndex + $0.lowerBound..<list.startIndex + $0.upperBound] }
    }

    /// The decoded content of a JSON string.
    static func text(_ string: ArraySlice<UInt8>) -> String? {
        guard string.count >= 2, string.first == UInt8(ascii: "\""), string.last == UInt8(ascii: "\"") else {
            return nil
        }
        let inside = string.dropFirst().dropLast()
        guard inside.contains(UInt8(ascii: "\\")) else { return String(decoding: inside, as: UTF8.self) }
        return try? JSONDocument(parsing: Array(string)).root.string()
    }

    // MARK: Parsing

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    /// The range of a string, with its quotation marks.
    private mutating func string() -> Range<Int>? {
        let start = position
        guard take(UInt8(ascii: "\"")) else { return nil }
        while let byte = peek {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<position }
        }
        return nil
    }

    private mutating func value() -> Range<Int>? {
        switch peek {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "{"), UInt8(ascii: "["): container()
        default: scalar()
        }
    }

    /// The range up to the matching closing bracket. In canonical bytes the scan need not distinguish `}` from `]`.
    private mutating func container() -> Range<Int>? {
        let start = position
        var depth = 0
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return start..<position }
        }
        return nil
    }

    private mutating func scalar() -> Range<Int>? {
        let start = position
        while let byte = peek, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") {
            position += 1
        }
        return position > start ? start..<position : nil
    }
}
