/// Comma-separated values (RFC 4180). Nothing is done against spreadsheets that take text for formulas: it would change
/// what was recorded.
public enum CSV {
    /// With the line's end.
    public static func row(_ cells: [String]) -> [UInt8] {
        var row: [UInt8] = []
        for (position, cell) in cells.enumerated() {
            if position > 0 { row.append(comma) }
            append(cell, to: &row)
        }
        return row + "\r\n".utf8
    }

    private static func append(_ text: String, to row: inout [UInt8]) {
        // By bytes: for characters, a carriage return and a line feed are one.
        guard text.utf8.contains(where: isSpecial) else { return row.append(contentsOf: text.utf8) }
        row.append(quotationMark)
        for byte in text.utf8 {
            if byte == quotationMark { row.append(quotationMark) }
            row.append(byte)
        }
        row.append(quotationMark)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == comma || byte == quotationMark || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }

    private static let comma = UInt8(ascii: ",")
    private static let quotationMark = UInt8(ascii: "\"")
}
