/// A table. In print, each page repeats the heading, and no row breaks. On a phone, column titles precede the values.
public struct PageTable: Sendable {
    public struct Column: Sendable {
        public enum Kind: String, Sendable {
            case text, number, mark
        }

        let title: String
        let kind: Kind
        let width: Int?

        /// - Parameter width: In percent of the table's width; nil for an automatic width.
        public init(_ title: String, _ kind: Kind = .text, width: Int? = nil) {
            self.title = title
            self.kind = kind
            self.width = width
        }
    }

    private let columns: [Column]
    private var rows: HTML = ""

    public init(_ columns: [Column]) { self.columns = columns }

    public var isEmpty: Bool { rows.isEmpty }

    /// - Parameter isLoud: Whether to highlight the row, for example after a failure.
    public mutating func add(_ cells: [HTML], isLoud: Bool = false) {
        rows += isLoud ? "<tr class=\"loud\">" : "<tr>"
        for (column, cell) in zip(columns, cells) {
            let content: HTML = cell.isEmpty ? "" : "<div>\(cell)</div>"
            rows += "<td class=\"\(column.kind.rawValue)\" data-name=\"\(column.title)\">\(content)</td>"
        }
        rows += "</tr>\n"
    }

    public var html: HTML {
        let widths = HTML(columns.map { $0.width.map { "<col style=\"width:\($0)%\">" } ?? "<col>" })
        let heads = HTML(columns.map { "<th scope=\"col\" class=\"\($0.kind.rawValue)\">\($0.title)</th>" })
        return """
            <table>
            <colgroup>\(widths)</colgroup>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>

            """
    }
}
