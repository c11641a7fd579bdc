/// A result mark. Each has its own shape and word, so that a reader does not need the colour.
public enum Mark: String, CaseIterable, Sendable {
    case pass, fail, unavailable, notApplicable

    public var word: String { self == .notApplicable ? "not applicable" : rawValue }

    /// The sign and the word in a frame.
    public var html: HTML { badge(word) }

    /// The sign with another word, such as `passed`.
    public func badge(_ word: String) -> HTML {
        """
        <span class="mark \(rawValue)"><svg aria-hidden="true"><use href="#mark-\(rawValue)"/></svg>\(word)</span>
        """
    }

    /// A page contains these once: the SVG symbols of the signs, 16 units wide.
    static let drawings: HTML = """
        <svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>\
        <symbol id="mark-pass" viewBox="0 0 16 16"><path d="M2.5 8.5l3.7 4L13.5 4" class="stroke"/></symbol>\
        <symbol id="mark-fail" viewBox="0 0 16 16"><path d="M3.5 3.5l9 9M12.5 3.5l-9 9" class="stroke"/></symbol>\
        <symbol id="mark-unavailable" viewBox="0 0 16 16">\
        <path d="M5 5.6C5 2 11.2 2 11.2 5.6 11.2 8 8.1 7.7 8.1 10.4M8.1 12.6v1.6" class="stroke"/></symbol>\
        <symbol id="mark-notApplicable" viewBox="0 0 16 16"><path d="M3 8h10" class="stroke"/></symbol>\
        </defs></svg>
        """
}
