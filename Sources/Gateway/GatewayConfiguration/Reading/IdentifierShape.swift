/// The usual forms of App Store Connect's identifiers. Apple publishes no rules, and its own examples have other forms.
enum IdentifierShape {
    /// Groups of 8, 4, 4, 4 and 12 hexadecimal digits (RFC 9562 §4).
    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
    }

    /// Letters, digits, hyphens and periods (CFBundleIdentifier).
    static func isBundleID(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLetter || $0 == "-" || $0 == ".") }
    }
}
