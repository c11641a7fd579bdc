/// A piece of HTML. Only string literals in the source code stay unescaped. There is no way to insert another text
/// without escaping it:
///
///     let cell: HTML = "<td title=\"\(reason)\">\(value)</td>"
///
/// The escaping is safe for text and for quoted attribute values (HTML Living Standard §13.1.2.3). It is not safe in a
/// URL, a style or a script, where the pages insert no text from other sources.
public struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
    public private(set) var text: String

    public init(stringLiteral value: String) { text = value }

    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    public init(escaping text: String) { self.text = Self.escaped(text) }

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

        /// A coordinate, with at most two decimal digits.
        mutating func appendInterpolation(_ number: Double) { text += HTML.decimal(number, unit: 100) }
    }

    /// Characters that a page must not contain, such as NUL and terminal controls, become U+FFFD.
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

    /// Control characters and noncharacters. Also the marks that change the text direction (Unicode Standard Annex 9):
    /// a reader would not see them.
    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: true
        default: false
        }
    }

    /// A decimal number, rounded to 1/`unit`, without trailing zeros, and without a point if it is whole.
    static func decimal(_ number: Double, unit: Double) -> String {
        guard number.isFinite, abs(number) < 1e12 else { return "0" }
        // Adding 0 removes the sign of a negative zero.
        let text = "\((number * unit).rounded() / unit + 0)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
