/// A list of names and values.
public struct Facts: PagePart {
    public struct Fact: Sendable {
        public var name: String
        public var value: HTML
    }

    public private(set) var facts: [Fact] = []
    /// Whether to use two columns if the page is wide enough.
    public var isWide: Bool

    public init(isWide: Bool = false) { self.isWide = isWide }

    public init(_ facts: [(String, String)], isWide: Bool = false) {
        self.isWide = isWide
        for (name, value) in facts { add(name, value) }
    }

    public var isEmpty: Bool { facts.isEmpty }

    public mutating func add(_ name: String, _ value: String?) {
        if let value { add(name, HTML(escaping: value)) }
    }

    public mutating func add(_ name: String, _ value: HTML) { facts.append(Fact(name: name, value: value)) }

    /// Adds a machine-readable value, such as a fingerprint (see `HTML.code`).
    public mutating func add(_ name: String, code: String?) {
        if let code { add(name, .code(code)) }
    }

    public var html: HTML {
        let rows = HTML(facts.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>\n" })
        return isWide ? "<dl class=\"wide\">\n\(rows)</dl>\n" : "<dl>\n\(rows)</dl>\n"
    }
}

extension HTML {
    /// Machine-readable text, in a monospaced font and with line breaks anywhere.
    public static func code(_ text: String) -> HTML { "<code>\(text)</code>" }

    /// A remark in small type under a value.
    public static func small(_ text: String) -> HTML { "<small>\(text)</small>" }
}
