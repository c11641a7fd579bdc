/// Percent-encoding (RFC 3986 §2.1), and the `+` of HTML forms.
public enum PercentEncoding {
    /// A variant of the encoding. The characters in `kept`, and ASCII letters and digits, stay unencoded.
    public struct Form: Sendable {
        public let kept: String
        public let spaceAsPlus: Bool
        public let isUppercase: Bool

        public init(kept: String, spaceAsPlus: Bool = false, isUppercase: Bool = true) {
            (self.kept, self.spaceAsPlus, self.isUppercase) = (kept, spaceAsPlus, isUppercase)
        }

        /// The unreserved characters of RFC 3986 §2.3.
        public static let strict = Form(kept: "-._~")
    }

    public static func encode(_ text: String, _ form: Form = .strict) -> String { encode(bytes: text.utf8, form) }

    public static func encode(bytes: some Sequence<UInt8>, _ form: Form = .strict) -> String {
        let kept = Set(form.kept.utf8)
        var encoded: [UInt8] = []
        for byte in bytes {
            if byte.isASCIIAlphanumeric || kept.contains(byte) {
                encoded.append(byte)
            } else if byte == 0x20, form.spaceAsPlus {
                encoded.append(UInt8(ascii: "+"))
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(contentsOf: Hexadecimal.encode([byte], uppercase: form.isUppercase).utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Nil if a `%` is not followed by two hexadecimal digits.
    public static func decodeBytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hexadecimal.value), let low = rest.next().flatMap(Hexadecimal.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Nil like `decodeBytes`, and also if the bytes are not UTF-8.
    public static func decode(_ text: some Sequence<UInt8>) -> String? {
        decodeBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    public var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
