/// Comma-separated values (RFC 4180). Nothing is done against spreadsheets that take text for formulas: it would change
/// what was recorded.
public enum CSV {
    /// With the line's end.
    public static func row(_ cells: [String]) -> [UInt8] {
        Array((cells.map(cell).joined(separator: ",") + "\r\n").utf8)
    }

    private static func cell(_ text: String) -> String {
        // By bytes: for characters, a carriage return and a line feed are one.
        let isPlain = text.utf8.allSatisfy { !special.contains($0) }
        return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static let special = Set("\",\r\n".utf8)
}
