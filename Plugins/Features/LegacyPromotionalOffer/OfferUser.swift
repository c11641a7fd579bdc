import Encodings
import SigningKit
public import StrictJSON

/// The user of the offer, with the value that the app passes to StoreKit with the purchase.
public enum OfferUser: Sendable {
    /// The field is empty; its separators remain.
    case nobody
    /// `appAccountToken`: Apple requires lower case.
    case account(AppAccountToken)
    /// `applicationUsername`: signed unchanged, with its case.
    case username(Username)

    var signedText: String { identifier ?? "" }

    var identifier: String? {
        switch self {
        case .nobody: nil
        case .account(let token): token.text
        case .username(let name): name.text.isEmpty ? nil : name.text
        }
    }

    init(from object: JSONObject) throws(JSONReadError) {
        // Apple's page allows an empty string for no user.
        let token = try object.optional("appAccountToken") { value throws(JSONReadError) -> AppAccountToken? in
            let text = try value.string()
            return text.isEmpty ? nil : try AppAccountToken(text)
        }
        let name = try object.optional("applicationUsername") { value throws(JSONReadError) -> Username? in
            let text = try value.string()
            return text.isEmpty ? nil : try Username(text)
        }
        switch (token ?? nil, name ?? nil) {
        case (nil, nil): self = .nobody
        case (let token?, nil): self = .account(token)
        case (nil, let name?): self = .username(name)
        case (.some, .some):
            throw JSONReadError(
                .invalid("cannot be sent together with appAccountToken; send the one that the app gives to StoreKit"),
                at: "applicationUsername")
        }
    }
}

/// A UUID that the app gave to StoreKit for its user.
public struct AppAccountToken: Sendable {
    /// In lower case.
    public let text: String

    /// - Parameter text: 8, 4, 4, 4 and 12 hexadecimal digits, of either case.
    public init(_ text: String) throws(JSONReadError) {
        guard UUIDText.isUUID(text) else {
            throw JSONReadError(
                .invalid(
                    "must be a UUID, such as 7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43; leave it out or empty if there is none"
                ))
        }
        // `isUUID` accepts only ASCII, so the locale has no effect.
        self.text = text.lowercased()
    }
}

/// A StoreKit 1 `applicationUsername`.
public struct Username: Sendable {
    public let text: String

    public init(_ text: String) throws(JSONReadError) {
        try TextRule.userName.check(text)
        self.text = text
    }
}
