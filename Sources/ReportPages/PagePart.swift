/// Something that stands on a page.
public protocol PagePart: Sendable {
    var html: HTML { get }
}

extension HTML: PagePart {
    public var html: HTML { self }
}

/// A part of a page under a heading.
public struct PageSection: PagePart {
    public var title: String
    /// At the right of the heading, such as a mark.
    public var aside: HTML
    public var parts: [any PagePart]
    /// Whether it begins a new sheet of paper.
    public var beginsSheet: Bool
    /// 2 for a section of the page, 3 for one within a section.
    public var level: Int

    public init(
        _ title: String, aside: HTML = "", level: Int = 2, beginsSheet: Bool = false, _ parts: [any PagePart]
    ) {
        self.title = title
        self.aside = aside
        self.level = level == 3 ? 3 : 2
        self.beginsSheet = beginsSheet
        self.parts = parts
    }

    public var html: HTML {
        let heading: HTML = "<h\(level)><span>\(title)</span>\(aside)</h\(level)>\n"
        let start: HTML = beginsSheet ? "<section class=\"sheet\">\n" : "<section>\n"
        return start + heading + HTML(parts.map { $0.html }) + "</section>\n"
    }
}

/// A text of its own.
public struct Paragraph: PagePart {
    public var text: String

    public init(_ text: String) { self.text = text }

    public var html: HTML { "<p>\(text)</p>\n" }
}

/// What a reader must not miss, in a frame.
public struct Note: PagePart {
    public var title: String?
    public var text: String

    public init(_ title: String? = nil, _ text: String) {
        self.title = title
        self.text = text
    }

    public var html: HTML {
        let head: HTML = title.map { "<strong>\($0)</strong> " } ?? ""
        return "<p class=\"note\">\(head)\(text)</p>\n"
    }
}

/// Sentences, one under the other.
public struct PageList: PagePart {
    public var items: [HTML]
    public var isNumbered: Bool

    public init(_ items: [HTML], isNumbered: Bool = false) {
        self.items = items
        self.isNumbered = isNumbered
    }

    public init(_ items: [String], isNumbered: Bool = false) {
        self.init(items.map(HTML.init(escaping:)), isNumbered: isNumbered)
    }

    public var html: HTML {
        let body = HTML(items.map { "<li>\($0)</li>\n" })
        return isNumbered ? "<ol>\n\(body)</ol>\n" : "<ul>\n\(body)</ul>\n"
    }
}
