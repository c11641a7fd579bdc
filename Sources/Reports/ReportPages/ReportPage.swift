/// A self-contained HTML page without scripts, external fonts or images. Its Content Security Policy (Level 3) forbids
/// loading any. The layout fits screens, phones, and prints on A4 and Letter.
public enum ReportPage {
    /// Dark text on white, and lines instead of areas, so that copies and faxes stay legible.
    private static let style = HTML(stringLiteral: String(decoding: PackageResources.style_css, as: UTF8.self))

    /// The whole document. Equal arguments give equal HTML.
    ///
    /// - Parameters:
    ///   - kind: The kind of document, such as `Drill record`; on every page in print.
    ///   - subject: The subject, in a sentence.
    ///   - verdictText: Such as `passed`, or `3 of 80 checks failed`.
    ///   - facts: Shown under the title: time, location and author.
    ///   - reference: On every page in print, such as the document's ID.
    ///   - closing: Shown at the end, in small type.
    public static func html(
        kind: String, title: String, subject: String, verdict: Mark, verdictText: String, facts: Facts,
        reference: String, closing: String, _ parts: [HTML]
    ) -> HTML {
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
        \(style)\(sheets(kind: kind, title: title, reference: reference))</style>
        </head>
        <body>
        \(Mark.drawings)
        <main>
        <header>
        <p class="kind"><span>PrivySeal</span> \(kind)</p>
        <div class="heading"><h1>\(title)</h1><p class="verdict">\(verdict.badge(verdictText))</p></div>
        <p class="subject">\(subject)</p>
        \(facts.html)</header>
        \(HTML(parts))<footer><p>\(closing)</p></footer>
        </main>
        </body>
        </html>

        """
    }

    /// The page margins in print (CSS Paged Media Level 3 §6). Other browsers print their own header with the title.
    private static func sheets(kind: String, title: String, reference: String) -> HTML {
        """
        @page { @top-left { content: \(quoted("PrivySeal · \(kind)")) }
        @top-right { content: \(quoted(title)) }
        @bottom-left { content: \(quoted(reference)) }
        @bottom-right { content: "Page " counter(page) " of " counter(pages) } }
        @page :first { @top-left { content: none } @top-right { content: none } }

        """
    }

    /// A quoted CSS string (CSS Syntax Level 3 §4.3.7). Controls become spaces, and all but ASCII letters, digits and
    /// spaces become hexadecimal escapes. The text can then end neither the string nor the style element.
    private static func quoted(_ text: String) -> HTML {
        let characters = text.unicodeScalars.map { scalar -> HTML in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", " ": HTML(escaping: String(scalar))
            case _ where scalar.value < 0x20: " "
            default: "\\\(String(scalar.value, radix: 16)) "
            }
        }
        return "\"\(HTML(characters))\""
    }
}
