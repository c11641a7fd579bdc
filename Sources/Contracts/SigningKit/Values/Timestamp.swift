import Glibc
import StrictJSON

/// A time, in milliseconds since 1970-01-01 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// - Parameter seconds: since 1970-01-01 in UTC. The result is the largest possible time on overflow.
    public init(seconds: Int64) { self = Timestamp(milliseconds: 0).later(by: seconds) }

    /// The time of `CLOCK_REALTIME`. A feature gets its time from the grant instead.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whole seconds, rounded down, because an `iat` must not lie in the future (RFC 7519 §4.1.6, an integer).
    public var seconds: Int64 {
        let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The time `seconds` later; the largest possible one on overflow.
    public func later(by seconds: Int64) -> Timestamp {
        let (added, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isTooLate) = milliseconds.addingReportingOverflow(added)
        return Timestamp(milliseconds: isTooLong || isTooLate ? Int64.max : sum)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

// MARK: RFC 3339

extension Timestamp {
    /// RFC 3339 in UTC with exactly three decimals, such as `2026-11-21T13:27:00.123Z`.
    public var text: String { String(decoding: rfc3339, as: UTF8.self) }

    /// `text` as 24 characters in ASCII. Each time has one text, and texts sort like times.
    public var rfc3339: [UInt8] { RFC3339.text(milliseconds: milliseconds) }

    /// RFC 3339 up to the second, without the zone, such as `2026-11-21T13:27:00`; in UTC.
    public var secondText: String { String(decoding: rfc3339.prefix(19), as: UTF8.self) }

    /// Reads only the format that `rfc3339` writes.
    public init?(rfc3339 text: some Collection<UInt8>) {
        let milliseconds =
            text.withContiguousStorageIfAvailable(RFC3339.milliseconds(exactly:))
            ?? Array(text).withUnsafeBufferPointer(RFC3339.milliseconds(exactly:))
        guard let milliseconds else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Reads every form of RFC 3339, such as `2027-01-01T02:00:00.5+02:00`, without leap seconds. Ignores digits after
    /// the milliseconds.
    public init?(anyRFC3339 text: String) {
        guard let milliseconds = Array(text.utf8).withUnsafeBufferPointer(RFC3339.milliseconds(_:)) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = Timestamp(rfc3339: Array(text.utf8)) else {
            throw JSONReadError(.invalid("must be a time in UTC, such as 2026-11-21T12:00:00.000Z"))
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        try String(decoding: rfc3339, as: UTF8.self).encode(to: encoder)
    }
}

/// Dates and times of RFC 3339 §5.6, as milliseconds since 1970-01-01 in UTC. For the years 0 to 9999.
private enum RFC3339 {
    static func text(milliseconds: Int64) -> [UInt8] {
        let (day, time) = divide(milliseconds, by: 86_400_000)
        let date = date(ofDay: day)
        return [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
            func put(_ value: Int64, _ digits: Int, _ separator: UInt8) {
                var rest = value
                for position in stride(from: count + digits - 1, through: count, by: -1) {
                    buffer[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                buffer[count + digits] = separator
                count += digits + 1
            }
            put(date.year, 4, UInt8(ascii: "-"))
            put(date.month, 2, UInt8(ascii: "-"))
            put(date.day, 2, UInt8(ascii: "T"))
            put(time / 3_600_000, 2, UInt8(ascii: ":"))
            put(time / 60_000 % 60, 2, UInt8(ascii: ":"))
            put(time / 1000 % 60, 2, UInt8(ascii: "."))
            put(time % 1000, 3, UInt8(ascii: "Z"))
        }
    }

    static func milliseconds(exactly text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count == 24, text[10] == UInt8(ascii: "T"), text[19] == UInt8(ascii: "."),
            text[23] == UInt8(ascii: "Z"), let seconds = seconds(text), let fraction = number(text, 20, 3)
        else { return nil }
        return seconds * 1000 + fraction
    }

    static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 20, text[10] | 0x20 == UInt8(ascii: "t"), let seconds = seconds(text) else { return nil }
        var position = 19
        var milliseconds: Int64 = 0
        if text[position] == UInt8(ascii: ".") {
            var weight: Int64 = 100
            position += 1
            while position < text.count, let digit = number(text, position, 1) {
                milliseconds += digit * weight
                weight /= 10
                position += 1
            }
            guard position > 20 else { return nil }
        }
        guard let offset = offset(text, position) else { return nil }
        return (seconds - offset * 60) * 1000 + milliseconds
    }

    /// The date and the time until the seconds, which have the same place in every form.
    private static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), let year = number(text, 0, 4), let month = number(text, 5, 2),
            let day = number(text, 8, 2), let hour = number(text, 11, 2), let minute = number(text, 14, 2),
            let second = number(text, 17, 2), (1...12).contains(month), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = self.day(ofDate: year, month, day)
        // The day exists in that month.
        guard date(ofDay: days) == (year, month, day) else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Minutes ahead of UTC.
    private static func offset(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int64? {
        guard position < text.count else { return nil }
        let sign = text[position]
        if text.count == position + 1 { return sign | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard text.count == position + 6, text[position + 3] == UInt8(ascii: ":"),
            let hours = number(text, position + 1, 2), let minutes = number(text, position + 4, 2), hours < 24,
            minutes < 60
        else { return nil }
        switch sign {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        var number: Int64 = 0
        for position in start..<start + count {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }

    // Days count from 1970-01-01 in the Gregorian calendar. Years begin in March, so that leap days come last.

    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let (era, dayOfEra) = divide(shifted, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func day(ofDate year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = divide(year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Division that rounds down, also for times before 1970: the remainder is not negative.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
