public protocol PagePart: Sendable {
    var html: HTML { get }
}

extension HTML: PagePart {
    public var html: HTML { self }
}

/// A section with a heading.
public struct PageSection: PagePart {
    public var title: String
    /// Shown to the right of the heading, such as a mark.
    public var aside: HTML
    public var parts: [any PagePart]
    /// Whether the section starts a new page in print.
    public var startsNewPage: Bool
    /// The heading level: 2 for a section of the page, 3 for a subsection.
    public var level: Int

    public init(
        _ title: String, aside: HTML = "", level: Int = 2, startsNewPage: Bool = false, _ parts: [any PagePart]
    ) {
        self.title = title
        self.aside = aside
        self.level = level == 3 ? 3 : 2
        self.startsNewPage = startsNewPage
        self.parts = parts
    }

    public var html: HTML {
        let heading: HTML = "<h\(level)><span>\(title)</span>\(aside)</h\(level)>\n"
        let start: HTML = startsNewPage ? "<section class=\"sheet\">\n" : "<section>\n"
        return start + heading + HTML(parts.map { $0.html }) + "</section>\n"
    }
}

public struct Paragraph: PagePart {
    public var text: String

    public init(_ text: String) { self.text = text }

    public var html: HTML { "<p>\(text)</p>\n" }
}

/// Important text in a box.
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

/// A bulleted list.
public struct PageList: PagePart {
    public var items: [String]

    public init(_ items: [String]) { self.items = items }

    public var html: HTML { "<ul>\n\(HTML(items.map { "<li>\($0)</li>\n" }))</ul>\n" }
}
