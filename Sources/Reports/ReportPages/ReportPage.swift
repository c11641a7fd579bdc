/// A self-contained HTML page without scripts, external fonts or images. Its Content Security Policy (Level 3) forbids
/// loading any. The layout fits screens, phones, and prints on A4 and Letter.
public struct ReportPage: Sendable {
    /// The kind of document, such as `Drill record`; on every page in print.
    public var kind: String
    public var title: String
    /// The subject, in a sentence.
    public var subject: String
    public var verdict: Mark
    /// Such as `passed`, or `3 of 80 checks failed`.
    public var verdictText: String
    /// Shown under the title: time, location and author.
    public var facts: Facts
    public var parts: [any PagePart]
    /// Shown at the end, in small type.
    public var closing: String
    /// On every page in print, such as the document's ID.
    public var reference: String

    public init(
        kind: String, title: String, subject: String, verdict: Mark, verdictText: String, facts: Facts = Facts(),
        reference: String = "", closing: String = "", _ parts: [any PagePart] = []
    ) {
        self.kind = kind
        self.title = title
        self.subject = subject
        self.verdict = verdict
        self.verdictText = verdictText
        self.facts = facts
        self.reference = reference
        self.closing = closing
        self.parts = parts
    }

    /// The whole document. Equal pages have equal HTML.
    public var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light">
        <meta name="referrer" content="no-referrer">
        <title>\(kind): \(title)</title>
        <style>
        \(StyleSheet.css)\(sheets)</style>
        </head>
        <body>
        \(Mark.drawings)
        <main>
        \(header)\(HTML(parts.map { $0.html }))\(footer)</main>
        </body>
        </html>

        """
    }

    private var header: HTML {
        """
        <header>
        <p class="kind"><span>PrivySeal</span> \(kind)</p>
        <div class="heading"><h1>\(title)</h1><p class="verdict">\(verdict.badge(verdictText))</p></div>
        <p class="subject">\(subject)</p>
        \(facts.isEmpty ? "" : facts.html)</header>

        """
    }

    private var footer: HTML { closing.isEmpty ? "" : "<footer><p>\(closing)</p></footer>\n" }

    /// The page margins in print (CSS Paged Media Level 3 §6). Other browsers print their own header with the title.
    private var sheets: HTML {
        """
        @page { @top-left { content: \(CSSText.quoted("PrivySeal · \(kind)")) }
        @top-right { content: \(CSSText.quoted(title)) }
        @bottom-left { content: \(CSSText.quoted(reference)) }
        @bottom-right { content: "Page " counter(page) " of " counter(pages) } }
        @page :first { @top-left { content: none } @top-right { content: none } }

        """
    }
}
