/// Numbers with two decimal places.
enum Decimals {
    static func rounded(_ value: Double) -> Double { (max(0, min(value, 1e15)) * 100).rounded() / 100 }

    static func text(_ value: Double) -> String {
        let hundredths = Int64((rounded(value) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
