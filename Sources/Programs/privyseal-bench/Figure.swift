import StrictJSON

/// One line of the result table.
struct Figure {
    var name: String
    var value: Double
    var unit: String
    /// The reference of `ratio`, in the same unit.
    var limit: Double?
    var ratio: Double?
    /// The ratio required to pass.
    var bar: Double?

    /// Signatures per second, relative to a limit that was measured in the same rounds.
    init(name: String, _ rates: [Double], of limit: [Double], bar: Double?) {
        self.init(
            name: name, value: Stopwatch.median(rates), unit: "signatures/s", limit: Stopwatch.median(limit),
            ratio: Stopwatch.ratio(rates, of: limit), bar: bar)
    }

    private init(name: String, value: Double, unit: String, limit: Double?, ratio: Double?, bar: Double?) {
        (self.name, self.value, self.unit) = (name, value, unit)
        (self.limit, self.ratio, self.bar) = (limit, ratio, bar)
    }

    static func print(_ figures: [Figure]) {
        Swift.print(JSONText.string(figures))
    }
}

extension Figure: Encodable {
    func encode(to encoder: any Encoder) throws {
        let rounded = { (number: Double?) in number.map { ($0 * 10_000).rounded() / 10_000 } }
        let hasPassed: Bool? = if let ratio, let bar { ratio >= bar } else { nil }
        // The scripts expect null for an absent number.
        let members: JSONMembers = [
            "name": name, "value": rounded(value), "unit": unit, "limit": .some(rounded(limit) as any Encodable),
            "ratio": .some(rounded(ratio) as any Encodable), "bar": .some(rounded(bar) as any Encodable),
            "pass": .some(hasPassed as any Encodable),
        ]
        try members.encode(to: encoder)
    }
}
