/// RFC 3339 §5.6 in UTC with exactly three decimals, such as `2026-11-21T13:27:00.123Z`. Each time has one text, and
/// texts sort like times. For the years 0 to 9999.
extension Timestamp {
    /// 24 characters, as ASCII.
    public var rfc3339: [UInt8] {
        var (milliseconds, seconds) = (milliseconds - seconds * 1000, seconds)
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        seconds -= day * 86_400
        let date = Self.date(ofDay: day)
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
            put(seconds / 3600, 2, UInt8(ascii: ":"))
            put(seconds / 60 % 60, 2, UInt8(ascii: ":"))
            put(seconds % 60, 2, UInt8(ascii: "."))
            put(milliseconds, 3, UInt8(ascii: "Z"))
        }
    }

    /// Reads only the format that `rfc3339` writes.
    public init?(rfc3339 text: some Collection<UInt8>) {
        let moment =
            text.withContiguousStorageIfAvailable(Self.milliseconds)
            ?? Array(text).withUnsafeBufferPointer(Self.milliseconds)
        guard let moment else { return nil }
        self.init(milliseconds: moment)
    }

    private static func milliseconds(in text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count == 24 else { return nil }
        var isText = text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-") && text[10] == UInt8(ascii: "T")
        isText = isText && text[13] == UInt8(ascii: ":") && text[16] == UInt8(ascii: ":")
        isText = isText && text[19] == UInt8(ascii: ".") && text[23] == UInt8(ascii: "Z")
        func number(_ start: Int, _ count: Int) -> Int64 {
            var number: Int64 = 0
            for place in start..<start + count {
                let digit = text[place] &- UInt8(ascii: "0")
                isText = isText && digit < 10
                number = number * 10 + Int64(digit)
            }
            return number
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let (hour, minute, second, millisecond) = (number(11, 2), number(14, 2), number(17, 2), number(20, 3))
        guard isText, (1...12).contains(month), hour < 24, minute < 60, second < 60 else { return nil }
        let days = Self.day(ofDate: year, month, day)
        // The day exists in that month.
        guard Self.date(ofDay: days) == (year, month, day) else { return nil }
        return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + millisecond
    }

    // Days count from 1970-01-01 in the Gregorian calendar. Years begin in March, so that leap days come last.

    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
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
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
