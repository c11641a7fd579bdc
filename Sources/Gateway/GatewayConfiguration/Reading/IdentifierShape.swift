/// The usual forms of App Store Connect's identifiers. Apple publishes no rules, and its own examples have other forms.
enum IdentifierShape {
    static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
    }

    /// Letters, digits, hyphens and periods (CFBundleIdentifier).
    static func isBundleID(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLetter || $0 == "-" || $0 == ".") }
    }
}
