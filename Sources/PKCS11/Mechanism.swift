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
    public static let aesKeyGeneration = Mechanism(rawValue: CKM_AES_KEY_GEN)
    public static let rsaKeyPairGeneration = Mechanism(rawValue: CKM_RSA_PKCS_KEY_PAIR_GEN)
    /// Blocks of 16 bytes, each for itself (PKCS #11 v2.40 mechanisms §2.8.5).
    public static let aesECB = Mechanism(rawValue: CKM_AES_ECB)
    /// RFC 3394: a multiple of eight bytes.
    public static let aesKeyWrap = Mechanism(rawValue: CKM_AES_KEY_WRAP)
    /// RFC 5649: any length, such as a private key in PKCS #8.
    public static let aesKeyWrapPadded = Mechanism(rawValue: CKM_AES_KEY_WRAP_PAD)
    /// RFC 8017 §7.1; used with SHA-1 in both places and no label, which every token takes and SoftHSM alone.
    public static let rsaOAEP = Mechanism(rawValue: CKM_RSA_PKCS_OAEP)
}
