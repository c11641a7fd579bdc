import Encodings
import SigningKit

/// The form in which Apple's portals show an identifier. Apple documents no form, so another one causes only a warning.
enum IdentifierForm {
    /// Issuer IDs in App Store Connect have it.
    case uuid
    /// Team IDs have it.
    case tenCharacters
    /// The IDs that Apple gives for OAuth have one of these prefixes.
    case prefixed([String])

    /// Nil if the form is not known.
    init?(of identifier: ServiceIdentifier, for family: ServiceKeyFamily) {
        switch (identifier, family) {
        case (.issuerID, _): self = .uuid
        case (.teamID, .appleAds), (.clientID, .appleAds): self = .prefixed(["SEARCHADS."])
        case (.clientID, .appleBusiness): self = .prefixed(["BUSINESSAPI.", "SCHOOLAPI."])
        // The Performance Partner Portal gives the ID for the Apple TV feed.
        case (.teamID, .appleTVFeed): return nil
        case (.teamID, _): self = .tenCharacters
        default: return nil
        }
    }

    /// The warning about a text of another form; nil if it has this form.
    func warning(about text: String) -> String? {
        switch self {
        case .uuid: UUIDText.isUUID(text) ? nil : "is not a UUID, but issuer IDs in App Store Connect are; check it"
        case .tenCharacters:
            text.wholeMatch(of: /[A-Z0-9]{10}/) != nil
                ? nil : "is not ten capital letters and digits, but Apple's Team IDs are; check it"
        case .prefixed(let prefixes):
            prefixes.contains { text.hasPrefix($0) }
                ? nil
                : "does not begin with \(prefixes.joined(separator: " or ")), but the IDs that Apple gives do; check it"
        }
    }
}
