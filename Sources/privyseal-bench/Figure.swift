import StrictJSON

/// One line of the table.
struct Figure: JSONWritable {
    var name: String
    var value: Double
    var unit: String
    /// What `ratio` is of, in the same unit.
    var limit: Double?
    var ratio: Double?
    /// What the ratio has to reach.
    var bar: Double?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.name("value")
            Self.number(value, to: &writer)
            writer.member("unit", unit)
            for (name, number) in [("limit", limit), ("ratio", ratio), ("bar", bar)] {
                writer.name(name)
                if let number { Self.number(number, to: &writer) } else { writer.null() }
            }
            writer.name("pass")
            if let ratio, let bar { writer.boolean(ratio >= bar) } else { writer.null() }
        }
    }

    private static func number(_ number: Double, to writer: inout JSONWriter) {
        writer.raw(String((number * 10_000).rounded() / 10_000).utf8)
    }
}
