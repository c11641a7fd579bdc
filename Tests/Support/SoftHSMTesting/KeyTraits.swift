import PKCS11

/// The attributes of a test key. A key that a test expects to be refused changes one of them.
public struct KeyTraits: Sendable {
    public var isSensitive = true
    public var isExtractable = false
    public var signs = true
    public var alwaysAuthenticates = false
    /// Whether the token also holds the public key.
    public var hasPublicKey = true

    public init() {}

    /// The default traits with one change.
    public static func with(_ change: (inout KeyTraits) -> Void) -> KeyTraits {
        var traits = KeyTraits()
        change(&traits)
        return traits
    }

    func privateAttributes(label: String, id: [UInt8]) -> [Attribute] {
        [
            Attribute(.isToken, true), Attribute(.isPrivate, true), Attribute(.label, text: label),
            Attribute(.id, bytes: id), Attribute(.sensitive, isSensitive), Attribute(.extractable, isExtractable),
            Attribute(.sign, signs), Attribute(.alwaysAuthenticate, alwaysAuthenticates),
        ]
    }

    func publicAttributes(label: String, id: [UInt8]) -> [Attribute] {
        [
            Attribute(.isToken, true), Attribute(.isPrivate, false), Attribute(.label, text: label),
            Attribute(.id, bytes: id), Attribute(.verify, true),
        ]
    }
}

/// A curve, by its object identifier in DER (`CKA_EC_PARAMS`).
public struct Curve: Sendable {
    public let parameters: [UInt8]

    public static let p256 = Curve(parameters: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    public static let p384 = Curve(parameters: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22])
    public static let secp256k1 = Curve(parameters: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A])
}
