import SigningKit

/// Reads and writes times as in RFC 3339 §5.6.
enum RFC3339 {
    private static let example = "2027-01-01T00:00:00Z"

    /// Reads `2027-01-01T00:00:00Z` or `2027-01-01T02:00:00.5+02:00`. Ignores digits after the milliseconds.
    static func timestamp(_ text: String) throws(InvalidValue) -> Timestamp {
        guard let timestamp = parse(Array(text.utf8)) else {
            throw InvalidValue("is not a moment; write its date, time and zone, such as \(example)")
        }
        return timestamp
    }

    /// In UTC and in whole seconds.
    static func text(_ timestamp: Timestamp) -> String {
        let seconds = timestamp.seconds
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let (time, date) = (Int(seconds - day * 86_400), civil(Int(day)))
        let (year, rest) = (padded(date.year, 4), [date.month, date.day].map { padded($0, 2) }.joined(separator: "-"))
        let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(year)-\(rest)T\(clock)Z"
    }

    private static func parse(_ text: [UInt8]) -> Timestamp? {
        // 0123456789012345678
        // 2027-01-01T00:00:00
        guard text.count >= 20, text[4] == 0x2D, text[7] == 0x2D, text[10] | 0x20 == UInt8(ascii: "t"),
            text[13] == 0x3A, text[16] == 0x3A, let year = number(text[0..<4]), let month = number(text[5..<7]),
            let day = number(text[8..<10]), let hour = number(text[11..<13]), let minute = number(text[14..<16]),
            let second = number(text[17..<19]), (1...12).contains(month), day >= 1,
            day <= self.days(in: month, of: year), hour < 24, minute < 60, second < 60
        else { return nil }
        var rest = text[19...]
        var milliseconds = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty, let thousandths = number(digits.prefix(3)) else { return nil }
            milliseconds = thousandths * [100, 10, 1][min(digits.count, 3) - 1]
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = offset(Array(rest)) else { return nil }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        return Timestamp(milliseconds: Int64(seconds) * 1000 + Int64(milliseconds))
    }

    /// Minutes ahead of UTC.
    private static func offset(_ text: [UInt8]) -> Int? {
        if text == [UInt8(ascii: "Z")] || text == [UInt8(ascii: "z")] { return 0 }
        guard text.count == 6, text[3] == 0x3A, let hours = number(text[1..<3]), let minutes = number(text[4..<6]),
            hours < 24, minutes < 60
        else { return nil }
        switch text[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Years begin in March, so that a leap day is the last day of its year. 400 years have 146,097 days.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `daysSince1970`.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400
        return (month < 10 ? year : year + 1, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
