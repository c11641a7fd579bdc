/// Decimal numbers in C2SP texts: ASCII digits without leading zeros.
public enum DecimalNumber {
    /// Nil for any other text, and on overflow.
    public static func parse(_ digits: some Collection<UInt8>) -> Int? {
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, hasOverflown) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = product.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            guard !hasOverflown, !isTooLarge else { return nil }
            number = sum
        }
        return number
    }
}
