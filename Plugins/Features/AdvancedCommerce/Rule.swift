import SigningKit
import StrictJSON

/// The rule for one value of a request. Null is a value of the wrong kind; `Shape` skips it in an optional member.
struct Rule: Sendable {
    /// The currency of the request, if the request names one. Amounts need it.
    let check: @Sendable (_ value: JSONValue, _ currency: Currency?) throws(JSONReadError) -> Void

    init(_ check: @escaping @Sendable (JSONValue, Currency?) throws(JSONReadError) -> Void) {
        self.check = check
    }
}

// MARK: Nested values

extension Rule {
    static func object(_ shape: Shape) -> Rule {
        Rule { value, currency throws(JSONReadError) in try shape.check(value, currency) }
    }

    /// An array with at least one element: Apple accepts an absent list, but no empty list.
    static func list(_ shape: Shape) -> Rule {
        Rule { value, currency throws(JSONReadError) in
            guard try !value.elements().isEmpty else {
                throw JSONReadError(.invalid("is empty; it must have at least one element"))
            }
            _ = try value.elements { element throws(JSONReadError) in try shape.check(element, currency) }
        }
    }
}

// MARK: Simple values

extension Rule {
    static let boolean = Rule { value, _ throws(JSONReadError) in _ = try value.boolean() }

    static func integer(in allowed: ClosedRange<Int64>) -> Rule {
        Rule { value, _ throws(JSONReadError) in
            let integer = try value.integer()
            guard allowed.contains(integer) else {
                throw JSONReadError(
                    .invalid("is \(integer); it must be from \(allowed.lowerBound) to \(allowed.upperBound)"))
            }
        }
    }

    static func oneOf(_ words: [String]) -> Rule {
        Rule { value, _ throws(JSONReadError) in
            guard !words.containsExactly(try value.string()) else { return }
            let list = words.joined(separator: ", ")
            throw JSONReadError(.invalid(words.count == 1 ? "must be \(list)" : "must be one of \(list)"))
        }
    }

    /// A price in thousandths of the currency's unit: USD 1.99 is 1990.
    static let amount = Rule { value, currency throws(JSONReadError) in
        let amount = try value.integer()
        guard amount >= 0 else { throw JSONReadError(.invalid("is \(amount); a price must not be negative")) }
        // A modification may omit the currency, and no App Store currency has more than two decimals.
        let step = currency?.step ?? Currency.finestStep
        guard amount.isMultiple(of: step) else {
            let subject =
                currency.map { "\($0.code) has \($0.decimals) decimals" } ?? "no currency has more than 2 decimals"
            throw JSONReadError(
                .invalid("is \(amount) thousandths, but \(subject); it must be a multiple of \(step)"))
        }
    }

    static let currency = Rule { value, _ throws(JSONReadError) in _ = try Currency(from: value) }
}
