public import SigningKit

/// Times and days in the formats that people write.
public enum AuditTime {
    private static let millisecondsOfDay: Int64 = 86_400_000

    /// Reads a time (RFC 3339, any offset, up to nine decimals), a date (its start in UTC), or an age: a number with
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

    // MARK: RFC 3339 §5.6

    private static func time(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] | 0x20 == UInt8(ascii: "t") else { return nil }
        var rest = bytes[19...]
        var decimals: [UInt8] = []
        if rest.first == UInt8(ascii: ".") {
            decimals = Array(rest.dropFirst().prefix { isDigit($0) })
            guard (1...9).contains(decimals.count) else { return nil }
            rest = rest.dropFirst(1 + decimals.count)
        }
        decimals = Array((decimals + Array("000".utf8)).prefix(3))
        let plain = bytes[..<10] + "T".utf8 + bytes[11..<19] + ".".utf8 + decimals + "Z".utf8
        guard let offset = offset(rest), let local = Timestamp(rfc3339: plain) else { return nil }
        return Timestamp(milliseconds: local.milliseconds - offset)
    }

    /// Milliseconds east of UTC. Nil unless the text is `Z`, or a sign, hours, a colon and minutes.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        let text = Array(text)
        if text == Array("Z".utf8) || text == Array("z".utf8) { return 0 }
        guard text.count == 6, text[3] == UInt8(ascii: ":"), let hours = digits(text[1..<3]), hours < 24,
            let minutes = digits(text[4..<6]), minutes < 60
        else { return nil }
        let offset = (hours * 60 + minutes) * 60_000
        switch text[0] {
        case UInt8(ascii: "+"): return offset
        case UInt8(ascii: "-"): return -offset
        default: return nil
        }
    }

    private static func digits(_ text: some Collection<UInt8>) -> Int64? {
        guard !text.isEmpty, text.allSatisfy(isDigit) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
