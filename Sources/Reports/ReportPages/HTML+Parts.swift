/// The parts of a page.
extension HTML {
    /// A section with a heading.
    ///
    /// - Parameters:
    ///   - aside: Shown to the right of the heading, such as a mark.
    ///   - isSubsection: Whether the section is part of another one.
    ///   - startsNewPage: Whether the section starts a new page in print.
    public static func section(
        _ title: String, aside: HTML = "", isSubsection: Bool = false, startsNewPage: Bool = false, _ parts: [HTML]
    ) -> HTML {
        let start: HTML = startsNewPage ? "<section class=\"sheet\">\n" : "<section>\n"
        let level = isSubsection ? 3 : 2
        return start + "<h\(level)><span>\(title)</span>\(aside)</h\(level)>\n\(HTML(parts))</section>\n"
    }

    public static func paragraph(_ text: String) -> HTML { "<p>\(text)</p>\n" }

    /// Important text in a box.
    public static func note(_ title: String, _ text: String) -> HTML {
        "<p class=\"note\"><strong>\(title)</strong> \(text)</p>\n"
    }

    /// A bulleted list.
    public static func list(_ items: [String]) -> HTML { "<ul>\n\(HTML(items.map { "<li>\($0)</li>\n" }))</ul>\n" }

    /// Boxes for signatures on paper, side by side.
    ///
    /// - Parameter signatories: Nil as a name leaves space to write it.
    public static func signatureBoxes(_ statement: String, _ signatories: [(role: String, name: String?)]) -> HTML {
        let boxes = HTML(
            signatories.map { role, name in
                """
                <div class="box"><p class="role">\(role)</p>
                <p class="line"><span>Name</span>\(name ?? "")</p>
                <p class="line"><span>Date</span></p>
                <p class="line tall"><span>Signature</span></p></div>

                """
            })
        return "<div class=\"signatures\"><p>\(statement)</p>\n<div class=\"boxes\">\n\(boxes)</div></div>\n"
    }

    // MARK: Text

    /// Machine-readable text, in a monospaced font and with line breaks anywhere.
    public static func code(_ text: String) -> HTML { "<code>\(text)</code>" }

    /// A remark in small type under a value.
    public static func small(_ text: String) -> HTML { "<small>\(text)</small>" }
}

/// A list of names and values.
public struct Facts: Sendable {
    private var rows: HTML = ""
    private let isWide: Bool

    /// - Parameter isWide: Whether to use two columns if the page is wide enough.
    public init(isWide: Bool = false) { self.isWide = isWide }

    public mutating func add(_ name: String, _ value: String) { add(name, HTML(escaping: value)) }

    public mutating func add(_ name: String, _ value: HTML) { rows += "<div><dt>\(name)</dt><dd>\(value)</dd></div>\n" }

    /// Adds a machine-readable value, such as a fingerprint (see `HTML.code`).
    public mutating func add(_ name: String, code: String?) {
        if let code { add(name, .code(code)) }
    }

    public var html: HTML {
        rows.isEmpty ? "" : isWide ? "<dl class=\"wide\">\n\(rows)</dl>\n" : "<dl>\n\(rows)</dl>\n"
    }
}
