/// The seven fields of a legacy signature, in the order in which they are signed.
enum LegacyField: Int, CaseIterable, Sendable {
    case bundleID, keyID, productID, offerID, user, nonce, timestamp

    /// In the spelling of Apple's page.
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

    /// The slot of the slips that change this field.
    var slot: SlipSlots { SlipSlots(rawValue: 1 << UInt16(rawValue)) }
}
