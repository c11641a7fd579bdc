/// Formats numbers with two decimal places.
enum Decimals {
    static func text(_ value: Double) -> String {
        let hundredths = Int64((max(0, min(value, 1e15)) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
