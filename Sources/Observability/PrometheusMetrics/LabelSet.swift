/// Labels and values in output form: sorted by name, escaped, without braces.
struct LabelSet: Hashable, Sendable {
    /// Such as `feature="promotional-offer",outcome="signed"`.
    let text: String
    private let names: [String]

    static let none = LabelSet([])

    /// - Parameter dimensions: in any order. If a name occurs twice, the last value counts.
    init(_ dimensions: [(String, String)]) {
        var labels: [(name: String, value: String)] = []
        for (name, value) in dimensions {
            let name = MetricName.sanitizedLabel(name)
            labels.removeAll { $0.name == name }
            labels.append((name, value))
        }
        labels.sort { $0.name < $1.name }
        names = labels.map(\.name)
        text = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    }

    /// The same names, with `other` for each value.
    var overflowLabels: LabelSet { LabelSet(names.map { ($0, "other") }) }

    /// Escapes `\`, `"` and the line feed, as text format 0.0.4 requires.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == 10 }) else {
            return value
        }
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            case 10: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LabelSet: Comparable {
    static func < (one: LabelSet, other: LabelSet) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}
