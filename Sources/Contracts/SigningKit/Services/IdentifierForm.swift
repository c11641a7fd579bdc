import Encodings

/// The form of an identifier that Apple gives. Apple's pages describe it, or its portals show it.
public enum IdentifierForm: Sendable {
    /// An issuer ID.
    case uuid
    /// A Team ID or a key ID: ten digits and upper-case letters.
    case tenCharacters
    /// An ID of an API client, or of its team.
    case prefixed([String])
    /// A bundle ID or a Services ID: any text without the prefix of an API client.
    case application
    /// The Performance Partner Portal gives the ID for the Apple TV feed, and Apple documents no form.
    case undocumented

    private static let appleAds = ["SEARCHADS."]
    private static let appleBusiness = ["BUSINESSAPI.", "SCHOOLAPI."]

    public init(of identifier: ServiceIdentifier, for family: ServiceKeyFamily) {
        switch (identifier, family) {
        case (.issuerID, _): self = .uuid
        case (.teamID, .appleAds), (.clientID, .appleAds): self = .prefixed(Self.appleAds)
        case (.clientID, _): self = .prefixed(Self.appleBusiness)
        case (.teamID, .appleTVFeed): self = .undocumented
        case (.teamID, _): self = .tenCharacters
        case (.serviceID, _): self = .application
        }
    }

    public func matches(_ text: String) -> Bool {
        switch self {
        case .uuid: UUIDText.isUUID(text)
        case .tenCharacters:
            text.utf8.count == 10
                && text.unicodeScalars.allSatisfy { ("0"..."9").contains($0) || ("A"..."Z").contains($0) }
        case .prefixed(let prefixes): prefixes.contains { text.hasPrefix($0) }
        case .application: !(Self.appleAds + Self.appleBusiness).contains { text.hasPrefix($0) }
        case .undocumented: true
        }
    }
}
