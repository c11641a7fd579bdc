/// Prometheus names: `[a-zA-Z_:][a-zA-Z0-9_:]*` for metrics, the same without `:` for labels.
enum MetricName {
    /// - Parameter suffix: appended unless the name already ends with it.
    static func sanitized(_ label: String, suffix: String = "") -> String {
        let name = clean(label, allowingColon: true)
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// `le` is reserved for histograms.
    static func sanitizedLabel(_ name: String) -> String {
        name == "le" ? "le_" : clean(name, allowingColon: false)
    }

    private static func clean(_ text: String, allowingColon: Bool) -> String {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": bytes.append(UInt8(ascii: scalar))
            case "0"..."9":
                if bytes.isEmpty { bytes.append(UInt8(ascii: "_")) }
                bytes.append(UInt8(ascii: scalar))
            case ":" where allowingColon: bytes.append(UInt8(ascii: scalar))
            default: bytes.append(UInt8(ascii: "_"))
            }
        }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }
}
