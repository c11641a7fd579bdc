internal import CP11Kit

/// How a key is used (`CK_MECHANISM`), without a parameter.
public struct Mechanism: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// ECDSA over a digest that was hashed elsewhere; r ‖ s comes back (PKCS #11 v2.40 mechanisms §2.3.6).
    public static let ecdsa = Mechanism(rawValue: CKM_ECDSA)
    public static let ecKeyPairGeneration = Mechanism(rawValue: CKM_EC_KEY_PAIR_GEN)
}
