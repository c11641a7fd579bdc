/// The seven fields of a legacy signature, in signing order.
enum LegacyField: Int, CaseIterable, Sendable {
    case bundleID, keyID, productID, offerID, user, nonce, timestamp

    /// The field's name in Apple's spelling.
    func name(in answer: LegacyAnswer) -> String {
        switch self {
        case .bundleID: "appBundleID"
        case .keyID: "keyIdentifier"
        case .productID: "productIdentifier"
        case .offerID: "offerIdentifier"
        case .user: answer.user.fieldName
        case .nonce: "nonce"
        case .timestamp: "timestamp"
        }
    }

    /// The part that a mistake in this field changes.
    var affectedPart: AffectedParts { AffectedParts(rawValue: 1 << UInt16(rawValue)) }
}
