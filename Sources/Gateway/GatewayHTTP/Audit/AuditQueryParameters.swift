import AuditKit
import HummingbirdCore
import SigningKit

/// A query of the audit log as URL parameters: `AuditTerm` names, `since`, `until`, `day`, and those of each route.
struct AuditQueryParameters {
    private(set) var query: AuditQuery
    let limit: Int
    let interval: AuditInterval

    private static let maximumLimit = 1000

    init(_ request: Request, allowing others: [String]) throws {
        let terms = AuditTerm.allCases.map(\.rawValue)
        let parameters = try QueryString(
            request.uri.query, allowing: (terms + ["since", "until", "day"] + others).sorted())
        var text = AuditQueryText()
        text.since = parameters["since"]
        text.until = parameters["until"]
        text.day = parameters["day"]
        for term in AuditTerm.allCases { text.terms[term] = parameters[term.rawValue] }
        text.isLatestFirst =
            try parameters.optional("order", "latest or oldest") { ["latest": true, "oldest": false][$0] } ?? true
        limit =
            try parameters.optional("limit", "a number from 1 to \(Self.maximumLimit)") { text in
                Int(text).flatMap { (1...Self.maximumLimit).contains($0) ? $0 : nil }
            } ?? 100
        let intervals = AuditInterval.allCases.map(\.rawValue).joined(separator: ", ")
        interval = try parameters.optional("by", "one of \(intervals)", AuditInterval.init(exactly:)) ?? .day
        do { query = try text.query(at: Timestamp.now()) } catch {
            // The `+` of an offset such as +01:00 must be percent-encoded.
            let isTime = ["since", "until"].contains(error.parameter)
            let hint =
                isTime && parameters[error.parameter]?.contains(" ") == true
                ? " In a URL a + is a space: write it as %2B." : ""
            throw Problem(.invalidParameter, error.description + hint, field: error.parameter)
        }
        let begin = try parameters.optional("after", "the index of an entry", Self.number).map { $0 + 1 } ?? 0
        let end = try parameters.optional("before", "the index of an entry", Self.number) ?? .max
        query.indexes = begin..<max(begin, end)
    }

    /// A decimal number without sign or leading zeros, less than `Int.max`.
    static func number(_ text: String) -> Int? {
        guard let number = Int(text), (0..<Int.max).contains(number), String(number) == text else { return nil }
        return number
    }
}
