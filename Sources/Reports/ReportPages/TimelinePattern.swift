/// The fill patterns: dark lines on a light ground, one direction per key. The first two, for a key rotation, differ
/// most.
enum TimelinePattern {
    private static let patterns: [(ground: HTML, ink: HTML, drawing: HTML)] = [
        ("#dce8f4", "#1f4e7a", "M-2 2L2-2M0 8L8 0M6 10L10 6"),
        ("#fdf0e3", "#8a4a0b", "M0 4H8"),
        ("#e2f0e2", "#2a6336", "M-2 6L2 10M0 0L8 8M6-2L10 2"),
        ("#ece2f3", "#57367a", "M2 0V8M6 0V8"),
        ("#f3f0d9", "#665a00", "M0 0L8 8M8 0L0 8"),
        ("#ececec", "#333333", "M0 4H8M4 0V8"),
    ]

    static func fill(_ index: Int) -> HTML { "url(#key-\(index % patterns.count))" }

    static func ink(_ index: Int) -> HTML { patterns[index % patterns.count].ink }

    /// For an `index` from 0 up to, not including, `count`.
    static func definitions(_ count: Int) -> HTML {
        HTML(
            patterns.prefix(count).enumerated().map { index, pattern -> HTML in
                """
                <pattern id="key-\(index)" width="8" height="8" patternUnits="userSpaceOnUse">\
                <path d="M0 0H8V8H0Z" fill="\(pattern.ground)"/>\
                <path d="\(pattern.drawing)" stroke="\(pattern.ink)" stroke-width="1" fill="none"/></pattern>
                """
            })
    }
}
