enum Decimal {
    /// `50` for 50.0, and `0.5`.
    static func text(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
