import Encodings

/// Formats milliseconds since 1970 as dates.
enum DateNotation {
    /// ISO 8601 in UTC: with and without milliseconds, each with `Z` or an offset, and without either.
    static func notations(milliseconds: Int64) -> [String] {
        let date = second(milliseconds: milliseconds)
        let rest = String(String(1000 + milliseconds % 1000).dropFirst())
        return ["\(date).\(rest)Z", "\(date)Z", "\(date).\(rest)+00:00", "\(date)+00:00", date]
    }

    /// Such as `2023-10-24T12:01:40`, in UTC.
    static func second(milliseconds: Int64) -> String {
        String(decoding: RFC3339.text(milliseconds: milliseconds).prefix(19), as: UTF8.self)
    }
}
