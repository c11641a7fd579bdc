import StrictJSON

/// What a problem document says (RFC 9457).
enum ProblemText {
    /// `detail`, without the full stop at its end.
    static func detail(_ body: [UInt8]) -> String? {
        guard let object = try? JSONDocument(parsing: body).root.anyObject(),
            let detail = try? object["detail"]?.string()
        else { return nil }
        return detail.hasSuffix(".") ? String(detail.dropLast()) : detail
    }
}
