/// Writes text format 0.0.4, line by line.
struct ExpositionWriter {
    private(set) var bytes: [UInt8] = []

    /// The two lines before a metric's samples.
    mutating func begin(_ name: String, _ kind: MetricKind, help: String) {
        append("# HELP \(name) ")
        for byte in help.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case 10: append("\\n")
            default: bytes.append(byte)
            }
        }
        append("\n# TYPE \(name) \(kind.rawValue)\n")
    }

    mutating func sample(_ name: String, _ labels: LabelSet, _ value: Int64) {
        line(name, labels.text, String(value))
    }

    mutating func sample(_ name: String, _ labels: LabelSet, _ value: Double) {
        line(name, labels.text, Self.number(value))
    }

    /// The lines of a histogram: cumulative buckets, then sum and count.
    ///
    /// - Parameter counts: for each bucket separately, and last for the values above all bounds.
    mutating func histogram(_ name: String, _ labels: LabelSet, bounds: [Double], counts: [Int64], sum: Double) {
        let prefix = labels.text.isEmpty ? "" : labels.text + ","
        var total: Int64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? Self.number(bounds[index]) : "+Inf"
            line("\(name)_bucket", "\(prefix)le=\"\(bound)\"", String(total))
        }
        line("\(name)_sum", labels.text, Self.number(sum))
        line("\(name)_count", labels.text, String(total))
    }

    private mutating func line(_ name: String, _ labels: String, _ value: String) {
        append(name)
        if !labels.isEmpty { append("{\(labels)}") }
        append(" \(value)\n")
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// As Go formats it: whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), abs(whole) < 1 << 53 { return String(whole) }
        return value.description
    }
}
