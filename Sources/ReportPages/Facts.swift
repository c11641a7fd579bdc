/// Names with what they stand for.
public struct Facts: PagePart {
    public struct Fact: Sendable {
        public var name: String
        public var value: HTML
    }

    public private(set) var facts: [Fact] = []
    /// In two columns, where there is room for them.
    public var isWide: Bool

    public init(isWide: Bool = false) { self.isWide = isWide }

    public init(_ facts: [(String, String)], isWide: Bool = false) {
        self.isWide = isWide
        for (name, value) in facts { add(name, value) }
    }

    public var isEmpty: Bool { facts.isEmpty }

    /// Nothing is added for nil.
    public mutating func add(_ name: String, _ value: String?) {
        if let value { add(name, HTML(escaping: value)) }
    }

    public mutating func add(_ name: String, _ value: HTML) { facts.append(Fact(name: name, value: value)) }

    /// Something that a machine reads, such as a fingerprint: in letters of equal width, and broken anywhere.
    public mutating func add(_ name: String, code: String?) {
        if let code { add(name, .code(code)) }
    }

    public var html: HTML {
        let rows = HTML(facts.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>\n" })
        return isWide ? "<dl class=\"wide\">\n\(rows)</dl>\n" : "<dl>\n\(rows)</dl>\n"
    }
}

extension HTML {
    /// Something that a machine reads: in letters of equal width, and broken anywhere.
    public static func code(_ text: String) -> HTML { "<code>\(text)</code>" }

    /// A remark in small letters under a value.
    public static func small(_ text: String) -> HTML { "<small>\(text)</small>" }
}
