/// Writes text format 0.0.4, line by line.
struct ExpositionWriter {
    private(set) var bytes: [UInt8] = []

    /// The two lines before a metric's samples.
    mutating func begin(_ name: String, _ kind: MetricKind, help: String) {
        append("# HELP \(name) \(help.escaping(#"\"#))\n# TYPE \(name) \(kind.rawValue)\n")
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
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count
            line("\(name)_bucket", "\(prefix)le=\"\(Self.number(bound))\"", String(total))
        }
        line("\(name)_sum", labels.text, Self.number(sum))
        line("\(name)_count", labels.text, String(total))
    }

    private mutating func line(_ name: String, _ labels: String, _ value: String) {
        append(labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n")
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// As Go formats it: whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return value.description
    }
}

/// Labels and values in output form: sorted by name, escaped, without braces.
struct LabelSet: Hashable, Comparable, Sendable {
    /// Such as `feature="promotional-offer",outcome="signed"`.
    let text: String
    private let names: [String]

    static let none = LabelSet([])

    /// - Parameter dimensions: in any order. If a name occurs twice, the last value counts.
    init(_ dimensions: [(String, String)]) {
        let values = Dictionary(
            dimensions.map { (MetricName.sanitizedLabel($0), $1) }, uniquingKeysWith: { _, last in last })
        names = values.keys.sorted()
        text = names.map { "\($0)=\"\((values[$0] ?? "").escaping(#"\""#))\"" }.joined(separator: ",")
    }

    /// The same names, with `other` for each value.
    var overflowLabels: LabelSet { LabelSet(names.map { ($0, "other") }) }

    static func < (one: LabelSet, other: LabelSet) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}

/// Prometheus names: `[a-zA-Z_:][a-zA-Z0-9_:]*` for metrics, the same without `:` for labels.
enum MetricName {
    /// - Parameter suffix: appended unless the name already ends with it.
    static func sanitized(_ label: String, suffix: String = "") -> String {
        let name = clean(label, others: "_:")
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// `le` is reserved for histograms.
    static func sanitizedLabel(_ name: String) -> String { name == "le" ? "le_" : clean(name, others: "_") }

    private static func clean(_ text: String, others: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            let isAllowed = scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            return isAllowed || others.unicodeScalars.contains(scalar) ? scalar : "_"
        }
        let name = String(String.UnicodeScalarView(scalars))
        return name.first?.isNumber != false ? "_" + name : name
    }
}

extension String {
    /// Writes a backslash before these characters, and `\n` for the line feed, as text format 0.0.4 requires.
    fileprivate func escaping(_ characters: String) -> String {
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar == "\n" {
                escaped += #"\n"#
            } else {
                if characters.unicodeScalars.contains(scalar) { escaped += #"\"# }
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
