import Encodings
public import SigningKit

/// Times and days in the formats that people write.
public enum AuditTime {
    private static let millisecondsOfDay: Int64 = 86_400_000

    /// Reads a time (RFC 3339, any offset), a date (its start in UTC), or an age: a number with
    /// `s`, `m`, `h`, `d` or `w`.
    ///
    /// - Returns: whole milliseconds, rounded down; nil for other text and for times before 1970.
    public static func parse(_ text: String, at now: Timestamp) -> Timestamp? {
        guard let moment = ago(text, at: now) ?? day(text)?.lowerBound ?? time(text), moment.milliseconds >= 0 else {
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
            let count = digits(text.utf8.dropLast())
        else { return nil }
        return Timestamp(milliseconds: now.milliseconds - count * unit)
    }

    private static let milliseconds: [UInt8: Int64] = [
        UInt8(ascii: "s"): 1000, UInt8(ascii: "m"): 60_000, UInt8(ascii: "h"): 3_600_000,
        UInt8(ascii: "d"): millisecondsOfDay, UInt8(ascii: "w"): 7 * millisecondsOfDay,
    ]

    private static func time(_ text: String) -> Timestamp? {
        Array(text.utf8).withUnsafeBufferPointer(RFC3339.milliseconds(_:)).map(Timestamp.init(milliseconds:))
    }

    private static func digits(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(String(decoding: text, as: UTF8.self))
    }
}
