/// A text that is not JSON as RFC 8259 has it, or that we refuse to read because two readers could see two things in it.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        /// There is no value: the text is empty or only white space.
        case empty
        /// The text ends inside a value: it was cut.
        case truncated
        /// A byte that cannot stand here; `expected` says what can.
        case unexpected(byte: UInt8, expected: String)
        /// A value is followed by something else.
        case trailing
        /// Not UTF-8 (RFC 3629): overlong, a surrogate, out of range or cut.
        case notUTF8
        /// A byte order mark (RFC 8259 §8.1: must not be added).
        case byteOrderMark
        /// A control character inside a string must be escaped (RFC 8259 §7).
        case controlCharacter(byte: UInt8)
        /// `\u` escapes that are half of a surrogate pair: there is no character.
        case loneSurrogate
        /// The same member twice in one object.
        case duplicateMember(String)
        /// Deeper than the limit (RFC 8259 §9).
        case tooDeep(limit: Int)
        /// Longer than a reader's offsets can count.
        case tooLong(limit: Int)
    }

    public let reason: Reason
    /// Where, in bytes from the start of the text.
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
