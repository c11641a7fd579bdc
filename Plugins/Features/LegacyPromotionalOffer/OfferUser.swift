import Encodings
import SigningKit
import StrictJSON

/// The user of the offer, with the value that the app passes to StoreKit with the purchase.
public enum OfferUser: Sendable {
    /// The field is empty; its separators remain.
    case nobody
    /// `appAccountToken`: a UUID in lower case, as Apple requires.
    case account(String)
    /// `applicationUsername`: signed unchanged, with its case; not empty.
    case username(String)

    var signedText: String { identifier ?? "" }

    var identifier: String? {
        switch self {
        case .nobody: nil
        case .account(let text), .username(let text): text
        }
    }

    /// Apple's page allows an empty string for no user.
    init(from object: JSONObject) throws(JSONReadError) {
        let token = try object.optional("appAccountToken") { value throws(JSONReadError) in try Self.account(value) }
        let name = try object.optional("applicationUsername") { value throws(JSONReadError) in
            try value.text(.userName)
        }
        switch (token ?? "", name ?? "") {
        case ("", ""): self = .nobody
        case (let token, ""): self = .account(token)
        case ("", let name): self = .username(name)
        default:
            throw JSONReadError(
                .invalid("cannot be sent together with appAccountToken; send the one that the app gives to StoreKit"),
                at: "applicationUsername")
        }
    }

    private static func account(_ value: JSONValue) throws(JSONReadError) -> String {
        let text = try value.string()
        guard text.isEmpty || UUIDText.isUUID(text) else {
            throw JSONReadError(
                .invalid(
                    "must be a UUID, such as 7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43; leave it out or empty if there is none"
                ))
        }
        // A UUID has only ASCII, so the locale has no effect.
        return text.lowercased()
    }
}
