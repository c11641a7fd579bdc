import StrictJSON

/// One line of the result table.
struct Figure: JSONWritable {
    var name: String
    var value: Double
    var unit: String
    /// The reference of `ratio`, in the same unit.
    var limit: Double?
    var ratio: Double?
    /// The ratio required to pass.
    var bar: Double?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.name("value")
            Self.number(value, to: &writer)
            writer.member("unit", unit)
            for (name, number) in [("limit", limit), ("ratio", ratio), ("bar", bar)] {
                writer.name(escaping: name)
                if let number { Self.number(number, to: &writer) } else { writer.null() }
            }
            writer.name("pass")
            if let ratio, let bar { writer.boolean(ratio >= bar) } else { writer.null() }
        }
    }

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
        var writer = JSONWriter()
        writer.array { writer in for figure in figures { figure.write(to: &writer) } }
        Swift.print(String(decoding: writer.bytes, as: UTF8.self))
    }

    private static func number(_ number: Double, to writer: inout JSONWriter) {
        writer.raw(String((number * 10_000).rounded() / 10_000).utf8)
    }
}
