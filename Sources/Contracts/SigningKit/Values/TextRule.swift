public import StrictJSON

/// The rule for a signed string. The bytes are signed as received: not trimmed, folded or normalised.
///
/// U+2063 separates the fields of a legacy signature, so inside a field it could split one into two. A name needs no
/// control characters. Other invisible characters make different identifiers look alike, but names of people need some
/// (zero-width joiners, direction marks). White space at either end is a copying error in every text. In an identifier,
/// so is any white space except U+0020.
public enum TextRule: Sendable {
    /// A product, offer or transaction identifier: 1 to 255 bytes of UTF-8, all visible characters or inner U+0020.
    case identifier
    /// A user name: 0 to 255 bytes of UTF-8.
    case userName

    /// In bytes of UTF-8.
    public static let maximumLength = 255

    /// - Throws: `JSONReadError.Reason.invalid`, with the fault and its position.
    public func check(_ text: String) throws(JSONReadError) {
        if let fault = fault(in: text) { throw JSONReadError(.invalid(fault)) }
    }

    /// The first fault and its position, as the rest of a sentence after the member's name, or nil.
    public func fault(in text: String) -> String? {
        let count = text.utf8.count
        guard count <= Self.maximumLength else {
            return "has \(count) bytes of UTF-8; at most \(Self.maximumLength) are allowed"
        }
        if case .identifier = self, count == 0 { return "is empty; it must hold at least one character" }
        // Fast path: nearly every identifier is visible ASCII and spaces.
        var ascii = text
        let isPlain = ascii.withUTF8 { bytes in
            bytes.first != 0x20 && bytes.last != 0x20 && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        }
        if isPlain { return nil }
        for (position, scalar) in text.unicodeScalars.enumerated() {
            if let fault = fault(of: scalar) { return "holds \(fault) at character \(position + 1); remove it" }
        }
        return whiteSpaceFault(in: text)
    }

    /// The white-space fault (Unicode's White_Space), as the rest of a sentence after the member's name, or nil.
    public func whiteSpaceFault(in text: String) -> String? {
        let scalars = text.unicodeScalars
        if let first = scalars.first, first.properties.isWhitespace {
            return "begins with white space (\(Self.name(of: first))); remove it"
        }
        if let last = scalars.last, last.properties.isWhitespace {
            return "ends with white space (\(Self.name(of: last))); remove it"
        }
        guard isVisibleOnly else { return nil }
        for (position, scalar) in scalars.enumerated() where scalar != " " && scalar.properties.isWhitespace {
            return "holds the white space \(Self.name(of: scalar)) at character \(position + 1); remove it"
        }
        return nil
    }

    private func fault(of scalar: Unicode.Scalar) -> String? {
        if scalar == "\u{2063}" { return "U+2063 (the separator of the signed fields)" }
        switch scalar.properties.generalCategory {
        case .control: return "the control character \(Self.name(of: scalar))"
        case .format, .lineSeparator, .paragraphSeparator:
            return isVisibleOnly ? "the invisible character \(Self.name(of: scalar))" : nil
        default:
            let isIgnorable = scalar.properties.isDefaultIgnorableCodePoint
            return isVisibleOnly && isIgnorable ? "the invisible character \(Self.name(of: scalar))" : nil
        }
    }

    private var isVisibleOnly: Bool {
        switch self {
        case .identifier: true
        case .userName: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let hexadecimal = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
    }
}

extension JSONValue {
    /// The value as a string that obeys `rule`.
    public func text(_ rule: TextRule) throws(JSONReadError) -> String {
        let text = try string()
        try rule.check(text)
        return text
    }

    public func identifier() throws(JSONReadError) -> String { try text(.identifier) }
}
