extension LegacyMistakes {
    func timestamp() -> [KnownMistake] {
        var mistakes: [KnownMistake] = []
        if answer.timestamp != text[.timestamp] {
            mistakes.append(
                time(.timestampFraction, .common, answer.timestamp, "with a fraction or an exponent, as in the answer")
            )
        }
        guard let given = LegacyTimestamp(answer.timestamp) else { return mistakes }
        switch given.unit {
        case .seconds: return mistakes + answeredInSeconds(given.whole)
        case .milliseconds: return mistakes + seconds(given.whole) + notations(given.whole) + moments(given.whole)
        case .finer: return mistakes + answeredFiner(given.whole)
        }
    }

    private func time(_ code: FindingCode, _ rank: KnownMistake.Rank, _ signed: String, _ how: String) -> KnownMistake {
        mistake(code, rank, .timestamp, signed: signed, "The timestamp was signed \(how): \(signed).")
    }

    private func answeredInSeconds(_ seconds: Int64) -> [KnownMistake] {
        [
            time(
                .timestampAnswerSeconds, .common, "\(seconds)000",
                "in milliseconds, but the answer gives seconds")
        ]
    }

    /// - Parameter whole: Microseconds or nanoseconds, depending on the size: 10^17 µs is in the year 5138.
    private func answeredFiner(_ whole: Int64) -> [KnownMistake] {
        let (unit, factor): (String, Int64) =
            whole < 100_000_000_000_000_000 ? ("microseconds", 1000) : ("nanoseconds", 1_000_000)
        let how = "but the answer gives \(unit)"
        return [
            time(.timestampFiner, .common, String(whole / factor), "in milliseconds, \(how)"),
            time(.timestampFiner, .plausible, String(whole / factor / 1000), "in seconds, \(how)"),
            time(.timestampFiner, .plausible, String(whole / factor + 1), "in milliseconds, rounded up, \(how)"),
        ]
    }

    private func seconds(_ milliseconds: Int64) -> [KnownMistake] {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let fraction = String(String(1000 + rest).dropFirst())
        var shortest = fraction
        while shortest.last == "0" { shortest.removeLast() }
        return [
            time(.timestampSeconds, .common, String(whole), "in seconds, not in milliseconds"),
            time(.timestampSeconds, .plausible, String(whole + 1), "in seconds, rounded up"),
            time(.timestampRounded, .common, "\(whole)000", "rounded down to a whole second"),
            time(.timestampRounded, .plausible, "\(whole + 1)000", "rounded up to a whole second"),
            time(.timestampSeconds, .plausible, "\(whole).\(fraction)", "in seconds with a fraction"),
            time(.timestampSeconds, .plausible, "\(whole).\(shortest)", "in seconds with a fraction"),
            time(.timestampSeconds, .plausible, "\(whole).0", "in seconds with a fraction"),
        ]
    }

    private func notations(_ milliseconds: Int64) -> [KnownMistake] {
        let reference = milliseconds - 978_307_200_000
        let exponent = Self.exponent(milliseconds)
        let dates = DateNotation.notations(milliseconds: milliseconds)
        return [
            time(.timestampFraction, .plausible, "\(milliseconds).0", "with a fraction, as a floating-point number"),
            time(.timestampFiner, .plausible, "\(milliseconds)000", "in microseconds"),
            time(.timestampFiner, .rare, "\(milliseconds)000000", "in nanoseconds"),
            time(
                .timestampReferenceDate, .plausible, String(reference / 1000), "in seconds since 2001, not since 1970"),
            time(.timestampReferenceDate, .plausible, String(reference), "in milliseconds since 2001, not since 1970"),
        ] + dates.map { time(.timestampDate, .rare, $0, "as a date") }
            + ["E12", "e+12", "e12"].map {
                time(.timestampFraction, .plausible, exponent + $0, "with an exponent, as a floating-point number")
            }
            + [",", ".", "\u{A0}"].map {
                time(.timestampGrouped, .rare, Self.grouped(milliseconds, by: $0), "with its digits in groups")
            }
    }

    /// Near times: the server read the clock twice, or in another time zone.
    private func moments(_ milliseconds: Int64) -> [KnownMistake] {
        let near = (1...10).flatMap { [$0, -$0] }
        let zones = Self.zones.flatMap { [$0, -$0] }
        return near.map { otherMoment(milliseconds + Int64($0), .plausible) }
            + zones.map {
                time(
                    .timestampTimeZone, .rare, String(milliseconds + Int64($0) * 60_000),
                    "\(Self.offset(abs($0))) \($0 < 0 ? "earlier" : "later") than in the answer")
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
    func microsecond(_ milliseconds: Int64, _ rest: Int) -> KnownMistake {
        time(.timestampFiner, .rare, "\(milliseconds)" + String(String(1000 + rest).dropFirst()), "in microseconds")
    }

    func otherMoment(_ milliseconds: Int64, _ rank: KnownMistake.Rank) -> KnownMistake {
        time(.timestampOtherMoment, rank, String(milliseconds), "as another time than in the answer")
    }

    /// The signed time in milliseconds, for an answer in seconds.
    func millisecond(_ milliseconds: Int64) -> KnownMistake {
        time(
            .timestampAnswerSeconds, .rare, String(milliseconds), "in milliseconds, but the answer gives seconds")
    }

    private static func exponent(_ milliseconds: Int64) -> String {
        var digits = String(milliseconds)
        while digits.last == "0", digits.count > 2 { digits.removeLast() }
        return "\(digits.prefix(1)).\(digits.dropFirst())"
    }

    private static func grouped(_ number: Int64, by mark: Character) -> String {
        var grouped = ""
        let digits = String(number)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { grouped.append(mark) }
            grouped.append(digit)
        }
        return grouped
    }
}
