/// What one span may hold, so that a queue of them has a bound in bytes, too.
enum SpanLimits {
    /// On the span, and on each event and link.
    static let attributes = 64
    static let events = 32
    static let links = 8
    /// In an array.
    static let elements = 32
    /// In a name or a text: Unicode scalars. What is longer is cut.
    static let scalars = 1024
}

extension String {
    var bounded: String {
        guard utf8.count > SpanLimits.scalars else { return self }
        return String(unicodeScalars.prefix(SpanLimits.scalars))
    }
}
