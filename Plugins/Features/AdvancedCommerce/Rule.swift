import Encodings
import SigningKit
import StrictJSON

/// The rule for one value of a request. Null is a value of the wrong kind; `Shape` skips it in an optional member.
struct Rule: Sendable {
    /// The currency of the request, if the request names one. Amounts need it.
    let check: @Sendable (_ value: JSONValue, _ currency: Currency?) throws(JSONReadError) -> Void
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

// MARK: Texts

extension Rule {
    /// A SKU, transaction or other identifier: not empty, and every character visible.
    static func identifier(atMost length: Int = TextRule.maximumLength) -> Rule { text(.identifier, atMost: length) }

    /// A text for people: not empty. It may hold the invisible characters of scripts and emoji.
    static func words(atMost length: Int) -> Rule { text(.userName, atMost: length) }

    /// 36 characters; Apple accepts either case.
    static let uuid = Rule { value, _ throws(JSONReadError) in
        guard UUIDText.isUUID(try value.string()) else {
            throw JSONReadError(.invalid("must be a UUID, such as 7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43"))
        }
    }

    /// ISO 3166-1 alpha-3, as in StoreKit's `Storefront.countryCode`.
    static let storefront = Rule { value, _ throws(JSONReadError) in
        let code = try value.string()
        guard code.utf8.count == 3, code.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) else {
            throw JSONReadError(.invalid("must be a country's code of three capital letters, such as USA"))
        }
    }

    /// Apple does not define "characters", and its own libraries count in three ways. UTF-16 code units, as in Java and
    /// JavaScript, are never fewer than code points or graphemes. So a text that passes here passes everywhere.
    private static func text(_ rule: TextRule, atMost length: Int) -> Rule {
        Rule { value, _ throws(JSONReadError) in
            let text = try value.string()
            guard !text.isEmpty else { throw JSONReadError(.invalid("is empty; it must hold at least one character")) }
            let count = text.utf16.count
            guard count <= length else {
                throw JSONReadError(
                    .invalid("has \(count) characters (UTF-16 code units); at most \(length) are allowed"))
            }
            try rule.check(text)
        }
    }
}
