/// Why a query is invalid. The description names the parameter and the remedy.
public enum AuditQueryError: Error, Hashable, Sendable {
    case notMoment(parameter: String, text: String)
    case notDay(String)
    /// `day` is given together with `since` or `until`.
    case dayAndPeriod
    /// `until` is not after `since`.
    case emptyPeriod(since: String, until: String)
    case emptyValue(parameter: String)
    case unknownKind(String)
}

extension AuditQueryError {
    public var parameter: String {
        switch self {
        case .notMoment(let parameter, _), .emptyValue(let parameter): parameter
        case .notDay, .dayAndPeriod: "day"
        case .emptyPeriod: "until"
        case .unknownKind: "kind"
        }
    }
}

extension AuditQueryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notMoment(let parameter, let text):
            "\"\(PlainText.of(text))\" is not a time for \(parameter): give a time such as 2026-11-21T13:27:00Z, a "
                + "date such as 2026-11-21, or how long ago, such as 24h or 7d."
        case .notDay(let text):
            "\"\(PlainText.of(text))\" is not a day: give a calendar date in UTC, such as 2026-11-21."
        case .dayAndPeriod: "A day is already a period: give either day, or since and until."
        case .emptyPeriod(let since, let until):
            "The period from since (\(since)) to until (\(until)) is empty: until must be later, and is not included "
                + "itself."
        case .unknownKind(let text):
            "\"\(PlainText.of(text))\" is not a kind of entry: give one of \(AuditEvent.kinds.joined(separator: ", "))."
        case .emptyValue(let parameter): "No entry has an empty \(parameter): leave it out to find all entries."
        }
    }
}
