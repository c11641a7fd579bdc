import SigningKit

extension IdentifierForm {
    /// The warning about a text of another form; nil if it has this form. Apple may change a form, so another one is no fault.
    func warning(about text: String) -> String? {
        guard !matches(text) else { return nil }
        return switch self {
        case .uuid: "is not a UUID, but issuer IDs in App Store Connect are; check it"
        case .tenCharacters: "is not ten capital letters and digits, but Apple's Team IDs are; check it"
        case .prefixed(let prefixes):
            "does not begin with \(prefixes.joined(separator: " or ")), but the IDs that Apple gives do; check it"
        case .application: "is the ID of an API client, but a bundle ID or a Services ID is needed; check it"
        case .undocumented: nil
        }
    }
}
