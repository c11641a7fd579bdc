import Foundation
import ReportPages
import Testing

@Suite("HTML report pages")
struct ReportPageTests {
    static let hostile = "<script>alert('x')</script>\"'&</style>\u{0}\u{202E}\u{200F}"

    @Test("HTML escapes text, quotation marks, control characters and direction marks")
    func escaping() {
        let html: HTML = "<b title=\"\(Self.hostile)\">\("a\tb")</b>"
        #expect(
            html.text == "<b title=\"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&#39;&amp;&lt;/style&gt;"
                + "\u{FFFD}\u{FFFD}\u{FFFD}\">a\tb</b>")
    }

    @Test("HTML does not escape nested HTML again")
    func nesting() {
        let inner: HTML = "<i>\("<")</i>"
        let outer: HTML = "<p>\(inner)\(7)</p>"
        #expect(outer.text == "<p><i>&lt;</i>7</p>")
    }

    @Test("no part of a page passes hostile text through")
    func everywhere() throws {
        let text = Self.page(filledWith: Self.hostile).text
        #expect(!text.lowercased().contains("<script"))
        #expect(!text.contains("alert('x')"))
        #expect(text.components(separatedBy: "</style>").count == 2)
        #expect(!text.contains("\u{0}"))
        #expect(!text.contains("\u{202E}"))
    }

    @Test("a page is well-formed, loads nothing and runs nothing")
    func alone() throws {
        let text = Self.page(filledWith: "Key & Co").text
        #expect(text.contains("default-src 'none'"))
        for outside in ["http:", "https:", "src=\"", "<link", "@import", "url(\"", "javascript:"] {
            #expect(!text.contains(outside), "\(outside)")
        }
        try Self.expectBalanced(text)
    }

    @Test("every mark has its own word and shape")
    func marks() {
        let marks = Mark.allCases.map(\.html.text)
        #expect(Set(marks).count == 4)
        for mark in Mark.allCases {
            #expect(mark.html.text.contains(mark.word))
            #expect(Self.page(filledWith: "a").text.contains("<symbol id=\"mark-\(mark.rawValue)\""))
        }
    }

    @Test("equal pages have equal texts")
    func stable() {
        #expect(Self.page(filledWith: "a") == Self.page(filledWith: "a"))
    }

    // MARK: A page with every element

    static func page(filledWith text: String) -> HTML {
        var facts = Facts(isWide: true)
        facts.add(text, text)
        facts.add(text, code: text)
        facts.add(text, .small(text))
        var table = PageTable([.init(text), .init(text, .number, width: 10), .init(text, .mark)])
        for mark in Mark.allCases { table.add(["\(text)", "\(1)", mark.html], isLoud: mark == .fail) }
        let timeline = Timeline(
            caption: text, duration: 10, interval: 1, series: [(text, counts: [1, 2, 3])], failures: [0, 1],
            bands: [(text, text, from: 0, to: 9, isHollow: false)], events: [(at: 3, text)])
        return ReportPage.html(
            kind: text, title: text, subject: text, verdict: .fail, verdictText: text, facts: facts, reference: text,
            closing: text,
            [
                .section(text, aside: Mark.pass.html, [.paragraph(text), .note(text, text), .list([text])]),
                .section(
                    text, startsNewPage: true,
                    [table.html, timeline.html, .section(text, isSubsection: true, [facts.html])]),
                .signatureBoxes(text, [(role: text, name: text), (role: text, name: nil)]),
            ])
    }

    static func expectBalanced(_ text: String) throws {
        let void: Set<String> = ["meta", "col", "br"]
        var open: [String] = []
        for part in text.split(separator: "<").dropFirst() {
            let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "/" }
            if part.hasPrefix("!") || void.contains(String(name)) { continue }
            let end = try #require(part.firstIndex(of: ">"))
            if part[part.index(before: end)] == "/" { continue }
            if name.hasPrefix("/") {
                #expect(open.popLast() == String(name.dropFirst()))
            } else {
                open.append(String(name))
            }
        }
        #expect(open.isEmpty)
    }
}
