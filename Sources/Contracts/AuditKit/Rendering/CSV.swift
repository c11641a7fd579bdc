/// Comma-separated values (RFC 4180). Text that a spreadsheet takes for a formula stays as it was recorded.
public enum CSV {
    /// One row, with CRLF.
    public static func row(_ cells: [String]) -> [UInt8] {
        var row: [UInt8] = []
        for (position, cell) in cells.enumerated() {
            if position > 0 { row.append(comma) }
            append(cell, to: &row)
        }
        return row + "\r\n".utf8
    }

    private static func append(_ text: String, to row: inout [UInt8]) {
        // Compare bytes: as a `Character`, CR LF is a single element.
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
