/// Maps numbers to coordinates, and chooses the ticks of an axis.
struct TimelineScale {
    /// The number at the end of the axis, above 0.
    let end: Double
    /// In the drawing's units; `length` may be negative.
    let origin: Double
    let length: Double

    /// Clamps a number outside the axis to the nearer end, and maps a number that is not finite to `origin`.
    func place(_ number: Double) -> Double {
        origin + length * (number.isFinite ? min(max(number / end, 0), 1) : 0)
    }

    /// 1, 2 or 5 times a power of ten, so that `end` has about `count` steps.
    static func step(for end: Double, count: Double) -> Double {
        let rough = end / count
        guard (1e-9...1e15).contains(rough) else { return max(end, 1) }
        var power = 1.0
        while power * 10 <= rough { power *= 10 }
        while power > rough { power /= 10 }
        return power * ([1.0, 2, 5].first { power * $0 >= rough } ?? 10)
    }

    static func ticks(to end: Double, step: Double) -> [Double] {
        (0...Int(min(max(end / step + 1e-6, 0), 50))).map { Double($0) * step }
    }
}

extension HTML.StringInterpolation {
    /// A coordinate, with at most two decimal digits.
    mutating func appendInterpolation(_ number: Double) { appendLiteral(HTML.decimal(number, digits: 2)) }
}

extension HTML {
    /// A decimal number without trailing zeros, and without a point if it is whole.
    static func decimal(_ number: Double, digits: Int) -> String {
        guard number.isFinite, abs(number) < 1e12 else { return "0" }
        var unit = 1
        for _ in 0..<digits { unit *= 10 }
        let hundredths = Int((abs(number) * Double(unit)).rounded())
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: unit)
        let sign = number < 0 && hundredths != 0 ? "-" : ""
        guard rest != 0 else { return sign + String(whole) }
        var fraction = String(rest)
        while fraction.utf8.count < digits { fraction = "0" + fraction }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(sign)\(whole).\(fraction)"
    }
}
