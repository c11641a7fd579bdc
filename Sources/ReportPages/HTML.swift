/// A piece of HTML. Only literals of the program go in as they are; every text that comes from elsewhere is escaped,
/// because there is no other way in:
///
///     let cell: HTML = "<td title=\"\(reason)\">\(value)</td>"
///
/// Escaping holds for text and for attribute values in quotation marks (HTML Living Standard §13.1.2.3). A text may not
/// be put into a URL, a style or a script, and no page of ours has one of those from elsewhere.
public struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
    public private(set) var text: String

    public init(stringLiteral value: String) { text = value }

    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A text from anywhere, escaped.
    public init(escaping text: String) { self.text = Self.escaped(text) }

    /// Pieces, one after the other.
    public init(_ pieces: some Sequence<HTML>) {
        text = ""
        for piece in pieces { text += piece.text }
    }

    public static func + (left: HTML, right: HTML) -> HTML {
        var sum = left
        sum.text += right.text
        return sum
    }

    public static func += (left: inout HTML, right: HTML) { left.text += right.text }

    public var isEmpty: Bool { text.isEmpty }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(_ text: String) { self.text += HTML.escaped(text) }

        public mutating func appendInterpolation(_ html: HTML) { text += html.text }

        public mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }
    }

    /// What may not be in a page at all, such as NUL and the controls of a terminal, becomes U+FFFD.
    private static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count + 8)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case _ where isRefused(scalar): result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Controls, and what turns the direction of the text around it (Unicode Standard Annex 9), so that a value reads
    /// as the bytes that it has.
    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: true
        default: false
        }
    }
}
