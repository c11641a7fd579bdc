/// A legacy promotional-offer signature with all of its input.
public struct LegacyAnswer: Sendable {
    /// The user of the offer, as the app passes it to StoreKit.
    public enum User: Equatable, Sendable {
        case nobody
        case appAccountToken(String)
        case applicationUsername(String)
    }

    public var bundleID: String
    public var keyID: String
    public var productID: String
    public var offerID: String
    public var user: User
    /// The user's other name, if known, to detect a signature over the wrong one.
    public var otherUser: String?
    /// As in the answer, in any letter case.
    public var nonce: String
    /// As in the answer, before any conversion: `1698148900000`.
    public var timestamp: String
    /// As in the answer: Base64 of DER, if correct.
    public var signature: String

    public init(
        bundleID: String, keyID: String, productID: String, offerID: String, user: User, otherUser: String? = nil,
        nonce: String, timestamp: String, signature: String
    ) {
        self.bundleID = bundleID
        self.keyID = keyID
        self.productID = productID
        self.offerID = offerID
        self.user = user
        self.otherUser = otherUser
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
    }
}

extension LegacyAnswer.User {
    var text: String {
        switch self {
        case .nobody: ""
        case .appAccountToken(let text), .applicationUsername(let text): text
        }
    }

    /// The field's name in Apple's spelling.
    var fieldName: String {
        switch self {
        case .nobody, .appAccountToken: "appAccountToken"
        case .applicationUsername: "applicationUsername"
        }
    }
}
