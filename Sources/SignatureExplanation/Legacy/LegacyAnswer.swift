/// A legacy promotional-offer signature, with everything that went into it.
public struct LegacyAnswer: Sendable {
    /// Whom the offer is for, as the app gives it to StoreKit.
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
    /// The user's other name, when both are known: a signature over the wrong one can then be told.
    public var otherUser: String?
    /// As it was answered, in whatever case.
    public var nonce: String
    /// As it was answered, before any conversion: `1698148900000`.
    public var timestamp: String
    /// As it was answered: Base64 of DER, if all is well.
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
    /// The text as it was given.
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
