import SigningKit

extension LegacyMistakes {
    func timestamp() -> [KnownMistake] {
        let asAnswered = time(
            .timestampFraction, .common, answer.timestamp, "with a fraction or an exponent, as in the answer")
        guard let given = LegacyTimestamp(answer.timestamp) else { return [asAnswered] }
        let mistakes =
            switch given.unit {
            case .seconds: [time(.timestampAnswerSeconds, .common, "\(given.whole)000", Self.answeredInSeconds)]
            case .milliseconds: seconds(given.whole) + notations(given.whole) + moments(given.whole)
            case .finer: answeredFiner(given.whole)
            }
        return [asAnswered] + mistakes
    }

    private static let answeredInSeconds = "in milliseconds, but the answer gives seconds"

    private func time(_ code: FindingCode, _ rank: KnownMistake.Rank, _ signed: String, _ how: String) -> KnownMistake {
        mistake(code, rank, .timestamp, signed: signed, "The timestamp was signed \(how): \(signed).")
    }

    private func times(_ ways: [Signed]) -> [KnownMistake] { ways.map { time($0.code, $0.rank, $0.text, $0.how) } }

    /// - Parameter whole: Microseconds or nanoseconds, depending on the size: 10^17 µs is in the year 5138.
    private func answeredFiner(_ whole: Int64) -> [KnownMistake] {
        let (unit, factor): (String, Int64) =
            whole < 100_000_000_000_000_000 ? ("microseconds", 1000) : ("nanoseconds", 1_000_000)
        let how = "but the answer gives \(unit)"
        return times([
            (.timestampFiner, .common, String(whole / factor), "in milliseconds, \(how)"),
            (.timestampFiner, .plausible, String(whole / factor / 1000), "in seconds, \(how)"),
            (.timestampFiner, .plausible, String(whole / factor + 1), "in milliseconds, rounded up, \(how)"),
        ])
    }

    private func seconds(_ milliseconds: Int64) -> [KnownMistake] {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let fraction = Self.threeDigits(rest)
        return times([
            (.timestampSeconds, .common, String(whole), "in seconds, not in milliseconds"),
            (.timestampSeconds, .plausible, String(whole + 1), "in seconds, rounded up"),
            (.timestampRounded, .common, "\(whole)000", "rounded down to a whole second"),
            (.timestampRounded, .plausible, "\(whole + 1)000", "rounded up to a whole second"),
            (.timestampSeconds, .plausible, "\(whole).\(fraction)", "in seconds with a fraction"),
            (.timestampSeconds, .plausible, "\(whole).\(Self.withoutZeros(fraction))", "in seconds with a fraction"),
            (.timestampSeconds, .plausible, "\(whole).0", "in seconds with a fraction"),
        ])
    }

    private func notations(_ milliseconds: Int64) -> [KnownMistake] {
        let reference = milliseconds - 978_307_200_000
        let digits = Self.withoutZeros(String(milliseconds))
        let exponent = "\(digits.prefix(1)).\(digits.dropFirst().isEmpty ? "0" : digits.dropFirst())"
        let date = Timestamp(milliseconds: milliseconds).secondText
        let rest = Self.threeDigits(milliseconds % 1000)
        let floating = "with an exponent, as a floating-point number"
        return times([
            (.timestampFraction, .plausible, "\(milliseconds).0", "with a fraction, as a floating-point number"),
            (.timestampFiner, .plausible, "\(milliseconds)000", "in microseconds"),
            (.timestampFiner, .rare, "\(milliseconds)000000", "in nanoseconds"),
            (.timestampReferenceDate, .plausible, "\(reference / 1000)", "in seconds since 2001, not since 1970"),
            (.timestampReferenceDate, .plausible, "\(reference)", "in milliseconds since 2001, not since 1970"),
        ])
            + ["\(date).\(rest)Z", "\(date)Z", "\(date).\(rest)+00:00", "\(date)+00:00", date].map {
                time(.timestampDate, .rare, $0, "as a date")
            }
            + ["E12", "e+12", "e12"].map { time(.timestampFraction, .plausible, exponent + $0, floating) }
            + [",", ".", "\u{A0}"].map {
                time(.timestampGrouped, .rare, Self.grouped(milliseconds, by: $0), "with its digits in groups")
            }
    }

    /// Near times: the server read the clock twice, or in another time zone.
    private func moments(_ milliseconds: Int64) -> [KnownMistake] {
        (1...10).flatMap { [$0, -$0] }.map { otherMoment(milliseconds + Int64($0), .plausible) }
            + Self.zones.flatMap { [$0, -$0] }.map { minutes in
                let how = "\(Self.offset(abs(minutes))) \(minutes < 0 ? "earlier" : "later") than in the answer"
                return time(.timestampTimeZone, .rare, String(milliseconds + Int64(minutes) * 60_000), how)
            }
    }

    /// In minutes: whole and half hours up to 14, and the zones with quarter hours (Nepal, Eucla, the Chatham Islands
    /// in winter and in summer).
    private static let zones = (1...28).map { $0 * 30 } + [345, 525, 765, 825]

    private static func offset(_ minutes: Int) -> String {
        let hours = minutes / 60 == 0 ? [] : ["\(minutes / 60) hours"]
        let rest = minutes % 60 == 0 ? [] : ["\(minutes % 60) minutes"]
        return (hours + rest).joined(separator: " ")
    }

    /// The signed time in microseconds, for an answer in milliseconds. The answer does not give the last three digits.
    func microsecond(_ milliseconds: Int64, _ rest: Int64) -> KnownMistake {
        time(.timestampFiner, .rare, "\(milliseconds)\(Self.threeDigits(rest))", "in microseconds")
    }

    func otherMoment(_ milliseconds: Int64, _ rank: KnownMistake.Rank) -> KnownMistake {
        time(.timestampOtherMoment, rank, String(milliseconds), "as another time than in the answer")
    }

    /// The signed time in milliseconds, for an answer in seconds.
    func millisecond(_ milliseconds: Int64) -> KnownMistake {
        time(.timestampAnswerSeconds, .rare, String(milliseconds), Self.answeredInSeconds)
    }

    // MARK: Digits

    /// A number below 1000.
    private static func threeDigits(_ number: Int64) -> String { String(String(1000 + number).dropFirst()) }

    private static func withoutZeros(_ digits: String) -> String {
        String(digits.reversed().drop { $0 == "0" }.reversed())
    }

    private static func grouped(_ number: Int64, by mark: Character) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { grouped, index in
            if index > 0, (digits.count - index).isMultiple(of: 3) { grouped.append(mark) }
            grouped.append(digits[index])
        }
    }
}
