import SigningKit
import StrictJSON

/// A currency of the App Store (ISO 4217 alpha-3), with the number of decimals in its prices (Apple: "Specifying prices
/// for Advanced Commerce SKUs").
struct Currency: Sendable {
    let code: String
    /// 0 or 2.
    let decimals: Int

    /// A price must be a multiple of this many thousandths.
    var step: Int64 { decimals == 0 ? 1000 : Self.finestStep }

    static let finestStep: Int64 = 10

    init(from value: JSONValue) throws(JSONReadError) {
        let code = try value.string()
        if Self.withoutDecimals.containsExactly(code) {
            decimals = 0
        } else if Self.withTwoDecimals.containsExactly(code) {
            decimals = 2
        } else {
            let known = (Self.withoutDecimals + Self.withTwoDecimals).sorted().joined(separator: ", ")
            throw JSONReadError(.invalid("must be a currency of the App Store: one of \(known)"))
        }
        self.code = code
    }

    private static let withoutDecimals = [
        "CLP", "COP", "DKK", "HKD", "HUF", "IDR", "INR", "JPY", "KRW", "KZT", "MXN", "NGN", "NOK", "PHP", "PKR", "RUB",
        "SEK", "THB", "TWD", "TZS", "VND",
    ]

    private static let withTwoDecimals = [
        "AED", "AUD", "BGN", "BRL", "CAD", "CHF", "CNY", "CZK", "EGP", "EUR", "GBP", "ILS", "MYR", "NZD", "PEN", "PLN",
        "QAR", "RON", "SAR", "SGD", "TRY", "USD", "ZAR",
    ]
}
