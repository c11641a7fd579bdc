import Encodings
import SigningKit
import StrictJSON

extension Rule {
    /// A SKU, transaction or other identifier: not empty, and every character visible.
    static func identifier(atMost length: Int = TextRule.maximumLength) -> Rule {
        text(.identifier, atMost: length)
    }

    /// A text for people: not empty. It may hold the invisible characters of scripts and emoji.
    static func words(atMost length: Int) -> Rule {
        text(.userName, atMost: length)
    }

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
