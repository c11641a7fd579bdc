/// RFC 3339 §5.6 in UTC with exactly three decimals, such as `2026-11-21T13:27:00.123Z`: one moment, one text, so that
/// texts sort as moments do. For the years 0 to 9999.
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

    /// Reads what `rfc3339` writes, and nothing else.
    public init?(rfc3339 text: some Collection<UInt8>) {
        let text = Array(text)
        guard text.count == 24 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64 {
            text[start..<start + count].reduce(0) { $0 * 10 + Int64($1) - 0x30 }
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let time = number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2)
        guard (1...12).contains(month) else { return nil }
        self.init(milliseconds: (Self.day(ofDate: year, month, day) * 86_400 + time) * 1000 + number(20, 3))
        // Whatever else may be wrong with the text, it is not what this moment looks like.
        guard milliseconds >= -62_167_219_200_000, milliseconds < 253_402_300_800_000, rfc3339 == text else {
            return nil
        }
    }

    // Days are counted from 1970-01-01 in the Gregorian calendar; years begin in March, so that leap days come last.

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
