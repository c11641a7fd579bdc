import Encodings
import SigningKit

/// The form of an identifier in a claim of a service token. Apple refuses a token with an identifier of another kind.
///
/// GatewayConfiguration has the same forms, and warns of another one. Neither target may import the other.
enum IdentifierForm {
    /// An issuer ID.
    case uuid
    /// A Team ID.
    case tenCharacters
    /// An ID of an API client, or of its team.
    case prefixed([String])
    /// A bundle ID or a Services ID: any text without the prefix of an API client.
    case application
    /// The Performance Partner Portal gives the ID for the Apple TV feed, and Apple documents no form.
    case undocumented

    private static let appleAds = ["SEARCHADS."]
    private static let appleBusiness = ["BUSINESSAPI.", "SCHOOLAPI."]

    /// Nil for a claim that is no identifier.
    init?(of member: ServiceTokenMember, for family: ServiceKeyFamily) {
        switch (member.identifier, family) {
        case (.issuerID, _): self = .uuid
        case (.teamID, .appleAds), (.clientID, .appleAds): self = .prefixed(Self.appleAds)
        case (.clientID, _): self = .prefixed(Self.appleBusiness)
        case (.teamID, .appleTVFeed): self = .undocumented
        case (.teamID, _): self = .tenCharacters
        case (.serviceID, _): self = .application
        case (nil, _) where ["bid", "sub"].contains(member.name): self = .application
        case (nil, _): return nil
        }
    }

    func matches(_ text: String) -> Bool {
        switch self {
        case .uuid: UUIDText.isUUID(text)
        case .tenCharacters: text.isTenCharacterID
        case .prefixed(let prefixes): prefixes.contains { text.hasPrefix($0) }
        case .application: !(Self.appleAds + Self.appleBusiness).contains { text.hasPrefix($0) }
        case .undocumented: true
        }
    }

    /// What a token needs, after "needs" in a sentence.
    var description: String {
        switch self {
        case .uuid: "the issuer ID, which is a UUID"
        case .tenCharacters: "the Team ID, which has ten digits and upper-case letters"
        case .prefixed(let prefixes): "an ID that begins with \(prefixes.map { "\"\($0)\"" }.listed("or"))"
        case .application: "a bundle ID or a Services ID, not the ID of an API client"
        case .undocumented: "an identifier"
        }
    }
}

extension String {
    /// Whether the text has the form of a key ID and of a Team ID: ten digits and upper-case letters.
    var isTenCharacterID: Bool {
        utf8.count == 10
            && unicodeScalars.allSatisfy { ("0"..."9").contains($0) || ("A"..."Z").contains($0) }
    }
}
