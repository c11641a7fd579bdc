/// Writes compact JSON (RFC 8259) into bytes. Members come out in the order in which they are written.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// - Parameter capacity: bytes to set aside, so that an answer of known size is written without growing.
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

    /// A string of which is known that nothing in it needs an escape, such as Base64.
    public mutating func unescaped(_ characters: [UInt8]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: characters)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A value that is JSON already.
    public mutating func raw(_ value: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
    }

    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        container("{", "}", members)
    }

    public mutating func array(_ elements: (inout JSONWriter) -> Void) {
        container("[", "]", elements)
    }

    // MARK: Members

    /// The name of a member; the next value written is its value.
    ///
    /// - Parameter name: a literal in which nothing needs an escape, as is so with every name in a program.
    public mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// The same for a name that is known only when it is written.
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

    // MARK: Small things

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
        // The contiguous bytes of a string, which it mostly has already, go in one copy; one by one they cost tenfold.
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

    /// Looks at every byte, whatever it finds: without an early end the loop runs on vectors.
    private static func holdsEscape(_ characters: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in characters { found |= needsEscape(byte) ? 1 : 0 }
        return found != 0
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Only what RFC 8259 §7 demands: quotation mark, backslash and control characters.
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
