import StrictJSON

/// Reads members of a problem document (RFC 9457).
enum ProblemText {
    /// `detail` without its full stop.
    static func detail(_ body: [UInt8]) -> String? {
        guard let detail = member("detail", body) else { return nil }
        return detail.hasSuffix(".") ? String(detail.dropLast()) : detail
    }

    static func type(_ body: [UInt8]) -> String? { member("type", body) }

    private static func member(_ name: String, _ body: [UInt8]) -> String? {
        try? JSONDocument(parsing: body).root.anyObject().decode(name)
    }
}
