/// Formats milliseconds since 1970 as dates, without a calendar library.
enum DateNotation {
    /// ISO 8601 in UTC: with and without milliseconds, each with `Z` or an offset, and without either.
    static func notations(milliseconds: Int64) -> [String] {
        let date = second(milliseconds: milliseconds)
        let rest = String(String(1000 + milliseconds % 1000).dropFirst())
        return ["\(date).\(rest)Z", "\(date)Z", "\(date).\(rest)+00:00", "\(date)+00:00", date]
    }

    /// Such as `2023-10-24T12:01:40`, in UTC.
    static func second(milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(days: days)
        return "\(year)-\(pad(month))-\(pad(day))T\(pad(rest / 3600)):\(pad(rest / 60 % 60)):\(pad(rest % 60))"
    }

    /// The proleptic Gregorian date of a day counted from 1970-01-01, for days from 1970 on. Its eras of 400 years
    /// begin on 1 March, so that the leap day is the last day of a year.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func pad(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
