public import SigningKit

/// A query in text form, from a command line or a URL.
public struct AuditQueryText: Hashable, Sendable {
    /// Start of the period, inclusive, in a format of `AuditTime`.
    public var since: String?
    /// End of the period, exclusive.
    public var until: String?
    /// One day in UTC, instead of `since` and `until`.
    public var day: String?
    /// The values to match, byte by byte.
    public var terms: [AuditTerm: String] = [:]
    public var isLatestFirst = true

    public init() {}

    /// - Parameter now: the reference for relative times such as `24h`.
    public func query(at now: Timestamp) throws(AuditQueryError) -> AuditQuery {
        var query = AuditQuery()
        query.isLatestFirst = isLatestFirst
        query.since = try moment(since, "since", now)
        query.until = try moment(until, "until", now)
        if let day {
            guard since == nil, until == nil else { throw .dayAndPeriod }
            guard let range = AuditTime.day(day) else { throw .notDay(day) }
            (query.since, query.until) = (range.lowerBound, range.upperBound)
        }
        if let since = query.since, let until = query.until, since >= until {
            throw .emptyPeriod(since: since.text, until: until.text)
        }
        for term in AuditTerm.allCases where terms[term]?.isEmpty == true {
            throw .emptyValue(parameter: term.rawValue)
        }
        if let kind = terms[.kind], !AuditEvent.kinds.contains(kind) { throw .unknownKind(kind) }
        query.terms = terms
        return query
    }

    private func moment(
        _ text: String?, _ parameter: String, _ now: Timestamp
    ) throws(AuditQueryError) -> Timestamp? {
        guard let text else { return nil }
        guard let moment = AuditTime.parse(text, at: now) else {
            throw .notMoment(parameter: parameter, text: text)
        }
        return moment
    }
}
