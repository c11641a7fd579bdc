/// Reads DER (X.690) in place, because keys must not be copied.
struct DERReader {
    struct Element {
        let tag: UInt8
        let content: UnsafeRawBufferPointer
        /// Tag, length and content.
        let whole: UnsafeRawBufferPointer
    }

    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    /// Context-specific, constructed.
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    /// Context-specific, primitive.
    static func primitiveContext(_ number: UInt8) -> UInt8 { 0x80 | number }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// The next element; nil if there is no complete one.
    mutating func next() -> Element? {
        guard position + 2 <= bytes.count else { return nil }
        let start = position
        let tag = bytes[start]
        var length = Int(bytes[start + 1])
        var content = start + 2
        if length >= 0x80 {
            // The long form; a key needs at most two length bytes.
            let count = length & 0x7F
            guard (1...2).contains(count), content + count <= bytes.count else { return nil }
            length = bytes[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard content + length <= bytes.count else { return nil }
        position = content + length
        return Element(
            tag: tag,
            content: UnsafeRawBufferPointer(rebasing: bytes[content..<position]),
            whole: UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
    }

    /// The next element if it has this tag.
    mutating func next(_ tag: UInt8) -> Element? {
        var ahead = self
        guard let element = ahead.next(), element.tag == tag else { return nil }
        self = ahead
        return element
    }

    /// The elements of a sequence that spans all bytes; nil otherwise.
    static func elements(of bytes: UnsafeRawBufferPointer) -> [Element]? {
        var outer = DERReader(bytes)
        guard let sequence = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        var inner = DERReader(sequence.content)
        var elements: [Element] = []
        while !inner.isAtEnd {
            guard let element = inner.next() else { return nil }
            elements.append(element)
        }
        return elements
    }
}
