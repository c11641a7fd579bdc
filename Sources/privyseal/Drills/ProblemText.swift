import StrictJSON

/// What a problem document says (RFC 9457).
enum ProblemText {
    /// `detail`, without the full stop at its end.
    static func detail(_ body: [UInt8]) -> String? {
        guard let detail = member("detail", body) else { return nil }
        return detail.hasSuffix(".") ? String(detail.dropLast()) : detail
    }

    /// `type`.
    static func type(_ body: [UInt8]) -> String? { member("type", body) }

    private static func member(_ name: String, _ body: [UInt8]) -> String? {
        guard let object = try? JSONDocument(parsing: body).root.anyObject() else { return nil }
        return try? object[name]?.string()
    }
}
