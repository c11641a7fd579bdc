/// A text that is not JSON (RFC 8259), or that the parser refuses because two parsers could read it differently.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        /// The text is empty or only white space.
        case empty
        case truncated
        /// The byte is not allowed here; `expected` says what is.
        case unexpected(byte: UInt8, expected: String)
        case trailing
        /// The text is not UTF-8 (RFC 3629): an overlong form, a surrogate, out of range or cut off.
        case notUTF8
        /// The text begins with a byte order mark (RFC 8259 §8.1: must not be added).
        case byteOrderMark
        /// A string contains an unescaped control character (RFC 8259 §7).
        case controlCharacter(byte: UInt8)
        case loneSurrogate
        case duplicateMember(String)
        /// The nesting exceeds the limit (RFC 8259 §9).
        case tooDeep(limit: Int)
        /// The text is longer than `JSONDocument.maximumLength`.
        case tooLong(limit: Int)
    }

    public let reason: Reason
    /// Bytes from the start of the text.
    public let offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONSyntaxError: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .empty: "The body is empty; a JSON object is expected."
        case .truncated: "The JSON text ends in the middle of a value, at byte \(offset)."
        case .unexpected(let byte, let expected):
            "Byte \(offset) of the JSON text is \(Self.name(of: byte)); expected \(expected)."
        case .trailing: "The JSON value ends before byte \(offset), but more text follows; send one value only."
        case .notUTF8: "Byte \(offset) of the JSON text is not UTF-8."
        case .byteOrderMark: "The JSON text begins with a byte order mark; send it without."
        case .controlCharacter(let byte):
            "Byte \(offset) of the JSON text is \(Self.name(of: byte)) inside a string; control characters must be escaped."
        case .loneSurrogate: "The \\u escape at byte \(offset) is half of a surrogate pair, which is no character."
        case .duplicateMember(let name):
            "The member \"\(name)\" appears twice in one object (byte \(offset)); send it once."
        case .tooDeep(let limit): "The JSON text nests deeper than \(limit) levels (byte \(offset))."
        case .tooLong(let limit): "The JSON text is longer than \(limit) bytes."
        }
    }

    private static func name(of byte: UInt8) -> String {
        if (0x21...0x7E).contains(byte) {
            return "'\(Character(Unicode.Scalar(byte)))'"
        }
        let hexadecimal = String(byte, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 2 - hexadecimal.count) + hexadecimal
    }
}
