/// A table. In print, each page repeats the heading, and no row breaks. On a phone, column titles precede the values.
public struct PageTable: PagePart {
    public struct Column: Sendable {
        public enum Kind: String, Sendable {
            case text, number, mark
        }

        public var title: String
        public var kind: Kind
        /// In percent of the table's width; nil for an automatic width.
        public var width: Int?

        public init(_ title: String, _ kind: Kind = .text, width: Int? = nil) {
            self.title = title
            self.kind = kind
            self.width = width
        }
    }

    public struct Row: Sendable {
        public var cells: [HTML]
        /// Whether to highlight the row, for example after a failure.
        public var isLoud: Bool

    }

    public var columns: [Column]
    public private(set) var rows: [Row] = []

    public init(_ columns: [Column]) { self.columns = columns }

    public mutating func add(_ cells: [HTML], isLoud: Bool = false) { rows.append(Row(cells: cells, isLoud: isLoud)) }

    public var html: HTML {
        let widths = HTML(columns.map { $0.width.map { "<col style=\"width:\($0)%\">" } ?? "<col>" })
        let heads = HTML(columns.map { "<th scope=\"col\" class=\"\($0.kind.rawValue)\">\($0.title)</th>" })
        return """
            <table>
            <colgroup>\(widths)</colgroup>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(HTML(rows.map(line)))</tbody>
            </table>

            """
    }

    private func line(_ row: Row) -> HTML {
        let cells = HTML(
            zip(columns, row.cells).map { column, cell -> HTML in
                let content: HTML = cell.isEmpty ? "" : "<div>\(cell)</div>"
                return "<td class=\"\(column.kind.rawValue)\" data-name=\"\(column.title)\">\(content)</td>"
            })
        return row.isLoud ? "<tr class=\"loud\">\(cells)</tr>\n" : "<tr>\(cells)</tr>\n"
    }
}
