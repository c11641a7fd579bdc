/// The limits of one span, which also bound the queue in bytes.
enum SpanLimits {
    /// For the span, and for each event and link.
    static let attributes = 64
    static let events = 32
    static let links = 8
    /// For an array.
    static let elements = 32
    /// Unicode scalars in a name or text. The rest is cut off.
    static let scalars = 1024
}

extension String {
    var bounded: String {
        guard utf8.count > SpanLimits.scalars else { return self }
        return String(unicodeScalars.prefix(SpanLimits.scalars))
    }
}
