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

    /// The field's name in Apple's spelling.
    func name(of field: LegacyField) -> String {
        switch field {
        case .bundleID: "appBundleID"
        case .keyID: "keyIdentifier"
        case .productID: "productIdentifier"
        case .offerID: "offerIdentifier"
        case .user: if case .applicationUsername = user { "applicationUsername" } else { "appAccountToken" }
        case .nonce: "nonce"
        case .timestamp: "timestamp"
        }
    }
}

/// The seven fields of a legacy signature, in signing order.
enum LegacyField: Int, CaseIterable, Sendable {
    case bundleID, keyID, productID, offerID, user, nonce, timestamp
}

/// A timestamp's text, read as a number in seconds, milliseconds or a finer unit.
struct LegacyTimestamp: Sendable {
    enum Unit: Sendable {
        case seconds, milliseconds, finer
    }

    /// The integer part.
    let whole: Int64
    /// False if the text has a fraction or an exponent.
    let isWhole: Bool

    /// Nil if the text is not a number, or is a time before 1970.
    init?(_ text: String) {
        if let whole = Int64(text), whole >= 0, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) {
            (self.whole, isWhole) = (whole, true)
        } else if let number = Double(text), number >= 0, number < 1e18 {
            (whole, isWhole) = (Int64(number), false)
        } else {
            return nil
        }
    }

    /// Determined by the size: 10^11 s is in the year 5138, and 10^11 ms in 1973.
    var unit: Unit {
        switch whole {
        case ..<100_000_000_000: .seconds
        case ..<100_000_000_000_000: .milliseconds
        default: .finer
        }
    }
}
