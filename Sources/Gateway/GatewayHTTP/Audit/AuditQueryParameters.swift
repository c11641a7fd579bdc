import AuditKit
import AuditLog
import HummingbirdCore
import SigningKit

/// A query of the audit log as URL parameters: `AuditTerm` names, `since`, `until`, `day`, and those of each route.
struct AuditQueryParameters {
    private(set) var query: AuditQuery
    let limit: Int
    let interval: AuditInterval

    private static let standardLimit = 100
    private static let limits = 1...1000

    init(_ request: Request, allowing others: [String]) throws {
        let terms = AuditTerm.allCases.map(\.rawValue)
        let parameters = try QueryString(
            request.uri.query, allowing: (terms + ["since", "until", "day"] + others).sorted())
        var text = AuditQueryText()
        text.since = parameters["since"]
        text.until = parameters["until"]
        text.day = parameters["day"]
        for term in AuditTerm.allCases { text.terms[term] = parameters[term.rawValue] }
        text.isLatestFirst = try Self.order(parameters["order"])
        limit = try Self.limit(parameters["limit"])
        interval = try Self.interval(parameters["by"])
        do { query = try text.query(at: ClockMonitor.systemTime()) } catch {
            // The `+` of an offset such as +01:00 must be percent-encoded.
            let isTime = ["since", "until"].contains(error.parameter)
            let hint =
                isTime && parameters[error.parameter]?.contains(" ") == true
                ? " In a URL a + is a space: write it as %2B." : ""
            throw Problem(.invalidParameter, error.description + hint, field: error.parameter)
        }
        query.indexes = try Self.indexes(after: parameters["after"], before: parameters["before"])
    }

    private static func indexes(after: String?, before: String?) throws(Problem) -> Range<Int> {
        func index(_ text: String?, _ name: String) throws(Problem) -> Int? {
            guard let text else { return nil }
            if let index = number(text) { return index }
            throw Problem(.invalidParameter, "The parameter \"\(name)\" must be the index of an entry.", field: name)
        }
        let begin = try index(after, "after").map { $0 + 1 } ?? 0
        return begin..<max(begin, try index(before, "before") ?? .max)
    }

    /// A decimal number without sign or leading zeros, less than `Int.max`.
    static func number(_ text: String) -> Int? {
        guard let number = Int(text), (0..<Int.max).contains(number), String(number) == text else { return nil }
        return number
    }

    private static func order(_ text: String?) throws(Problem) -> Bool {
        switch text {
        case nil, "latest": return true
        case "oldest": return false
        default: throw Problem(.invalidParameter, "The parameter \"order\" must be latest or oldest.", field: "order")
        }
    }

    private static func limit(_ text: String?) throws(Problem) -> Int {
        guard let text else { return standardLimit }
        guard let limit = Int(text), limits.contains(limit) else {
            throw Problem(
                .invalidParameter,
                "The parameter \"limit\" must be a number from \(limits.lowerBound) to \(limits.upperBound).",
                field: "limit")
        }
        return limit
    }

    private static func interval(_ text: String?) throws(Problem) -> AuditInterval {
        guard let text else { return .day }
        guard let interval = AuditInterval(exactly: text) else {
            let names = AuditInterval.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.invalidParameter, "The parameter \"by\" must be one of \(names).", field: "by")
        }
        return interval
    }
}
