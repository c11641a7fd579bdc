/// Writes compact JSON (RFC 8259) as bytes. Members appear in the order of the calls.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// - Parameter capacity: bytes to reserve, so that output of known size needs no reallocation.
    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    // MARK: Values

    public mutating func string(_ value: String) {
        separate()
        quote(value)
    }

    public mutating func integer(_ value: Int64) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    public mutating func integer(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    public mutating func boolean(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// A string that needs no escapes, such as Base64.
    public mutating func unescaped(_ characters: [UInt8]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: characters)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A value that already is JSON.
    public mutating func raw(_ value: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
    }

    public mutating func object(_ members: (inout JSONWriter) -> Void) { container("{", "}", members) }

    public mutating func array(_ elements: (inout JSONWriter) -> Void) { container("[", "]", elements) }

    // MARK: Members

    /// The name of a member. The next value written is its value.
    ///
    /// - Parameter name: a literal that needs no escapes.
    public mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The name of a member that is known only at run time.
    public mutating func name(escaping name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    public mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        string(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    public mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        self.name(name)
        integer(value)
    }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        boolean(value)
    }

    public mutating func member(_ name: StaticString, unescaped characters: [UInt8]) {
        self.name(name)
        unescaped(characters)
    }

    // MARK: Helpers

    private mutating func container(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONWriter) -> Void
    ) {
        separate()
        bytes.append(UInt8(ascii: open))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: close))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ value: String) {
        // Copy the contiguous bytes at once; most strings already are contiguous. Byte by byte costs ten times as much.
        var value = value
        value.withUTF8 { characters in
            bytes.append(UInt8(ascii: "\""))
            if Self.holdsEscape(characters) {
                for byte in characters { escape(byte) }
            } else {
                bytes.append(contentsOf: characters)
            }
            bytes.append(UInt8(ascii: "\""))
        }
    }

    /// Reads every byte without an early exit, so that the compiler can vectorise the loop.
    private static func holdsEscape(_ characters: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in characters { found |= needsEscape(byte) ? 1 : 0 }
        return found != 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Escapes only what RFC 8259 §7 requires: quotation mark, backslash and control characters.
    private mutating func escape(_ byte: UInt8) {
        guard Self.needsEscape(byte) else {
            bytes.append(byte)
            return
        }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 0x0F)])
        }
    }
}

/// A type that writes itself as one JSON value, on the signing path. Other types are `Encodable`; see `JSONText`.
public protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONWritable {
    /// The value's JSON text. `capacity` is an estimate of its length in bytes.
    public func jsonBytes(capacity: Int = 256) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        write(to: &writer)
        return writer.bytes
    }
}
