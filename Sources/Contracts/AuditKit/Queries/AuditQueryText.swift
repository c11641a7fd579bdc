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
            guard since == nil, until == nil else {
                throw AuditQueryError("day", "A day is already a period: give either day, or since and until.")
            }
            guard let range = AuditTime.day(day) else {
                throw AuditQueryError(
                    "day",
                    "\"\(PlainText.of(day))\" is not a day: give a calendar date in UTC, such as 2026-11-21.")
            }
            (query.since, query.until) = (range.lowerBound, range.upperBound)
        }
        if let since = query.since, let until = query.until, since >= until {
            throw AuditQueryError(
                "until",
                "The period from since (\(since.text)) to until (\(until.text)) is empty: until must be later, and is "
                    + "not included itself.")
        }
        for term in AuditTerm.allCases where terms[term]?.isEmpty == true {
            throw AuditQueryError(
                term.rawValue, "No entry has an empty \(term.rawValue): leave it out to find all entries.")
        }
        if let kind = terms[.kind], !AuditEvent.kinds.contains(kind) {
            throw AuditQueryError(
                "kind",
                "\"\(PlainText.of(kind))\" is not a kind of entry: give one of "
                    + "\(AuditEvent.kinds.joined(separator: ", ")).")
        }
        if let lifetime = terms[.lifetime], lifetime != LongLivedToken.term {
            throw AuditQueryError(
                "lifetime",
                "\"\(PlainText.of(lifetime))\" is not a lifetime: give \(LongLivedToken.term), or leave it out.")
        }
        query.terms = terms
        return query
    }

    private func moment(
        _ text: String?, _ parameter: String, _ now: Timestamp
    ) throws(AuditQueryError) -> Timestamp? {
        guard let text else { return nil }
        guard let moment = AuditTime.parse(text, at: now) else {
            throw AuditQueryError(
                parameter,
                "\"\(PlainText.of(text))\" is not a time for \(parameter): give a time such as 2026-11-21T13:27:00Z, a "
                    + "date such as 2026-11-21, or how long ago, such as 24h or 7d.")
        }
        return moment
    }
}

/// Why a query is invalid.
public struct AuditQueryError: Error, Hashable, CustomStringConvertible {
    public let parameter: String
    /// A sentence that names the parameter and the remedy.
    public let description: String

    init(_ parameter: String, _ description: String) {
        self.parameter = parameter
        self.description = description
    }
}

/// Times and days in the formats that people write.
public enum AuditTime {
    private static let millisecondsOfDay: Int64 = 86_400_000

    /// Reads a time (RFC 3339, any offset), a date (its start in UTC), or an age: a number with
    /// `s`, `m`, `h`, `d` or `w`.
    ///
    /// - Returns: whole milliseconds, rounded down; nil for other text and for times before 1970.
    public static func parse(_ text: String, at now: Timestamp) -> Timestamp? {
        guard let moment = ago(text, at: now) ?? day(text)?.lowerBound ?? Timestamp(anyRFC3339: text),
            moment.milliseconds >= 0
        else {
            return nil
        }
        return moment
    }

    /// Reads a date such as `2026-11-21`: the range of that day in UTC. Nil for other text.
    public static func day(_ text: String) -> Range<Timestamp>? {
        guard text.utf8.count == 10, let begin = Timestamp(rfc3339: Array((text + "T00:00:00.000Z").utf8)) else {
            return nil
        }
        return begin..<Timestamp(milliseconds: begin.milliseconds + millisecondsOfDay)
    }

    private static func ago(_ text: String, at now: Timestamp) -> Timestamp? {
        // Nine digits of weeks, in milliseconds, fit into Int64.
        guard let unit = text.utf8.last.flatMap({ milliseconds[$0] }), (2...10).contains(text.utf8.count),
            text.utf8.dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int64(text.dropLast())
        else { return nil }
        return Timestamp(milliseconds: now.milliseconds - count * unit)
    }

    private static let milliseconds: [UInt8: Int64] = [
        UInt8(ascii: "s"): 1000, UInt8(ascii: "m"): 60_000, UInt8(ascii: "h"): 3_600_000,
        UInt8(ascii: "d"): millisecondsOfDay, UInt8(ascii: "w"): 7 * millisecondsOfDay,
    ]
}
