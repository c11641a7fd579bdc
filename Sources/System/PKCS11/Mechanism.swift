internal import CP11Kit

/// A mechanism type (`CK_MECHANISM_TYPE`), without a parameter.
public struct Mechanism: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// ECDSA over a digest that the caller computed; returns r ‖ s (PKCS #11 v2.40 mechanisms §2.3.6).
    public static let ecdsa = Mechanism(rawValue: CKM_ECDSA)
    public static let ecKeyPairGeneration = Mechanism(rawValue: CKM_EC_KEY_PAIR_GEN)
    public static let aesKeyGeneration = Mechanism(rawValue: CKM_AES_KEY_GEN)
    public static let rsaKeyPairGeneration = Mechanism(rawValue: CKM_RSA_PKCS_KEY_PAIR_GEN)
    /// Independent blocks of 16 bytes (PKCS #11 v2.40 mechanisms §2.8.5).
    public static let aesECB = Mechanism(rawValue: CKM_AES_ECB)
    /// RFC 3394: a multiple of eight bytes.
    public static let aesKeyWrap = Mechanism(rawValue: CKM_AES_KEY_WRAP)
    /// RFC 5649: any length, such as a private key in PKCS #8. PKCS #11 v2.40 and SoftHSM use this name.
    public static let aesKeyWrapPadded = Mechanism(rawValue: CKM_AES_KEY_WRAP_PAD)
    /// RFC 5649 by the name of PKCS #11 v3.0 (`CKM_AES_KEY_WRAP_KWP`), which p11-kit 0.24 does not have.
    public static let aesKeyWrapKWP = Mechanism(rawValue: 0x210B)
    /// RFC 8017 §7.1, without a label.
    public static let rsaOAEP = Mechanism(rawValue: CKM_RSA_PKCS_OAEP)
    /// An AES key under RSA-OAEP, then a key under that AES key by RFC 5649 (PKCS #11 v2.40 mechanisms §2.1.21).
    public static let rsaAESKeyWrap = Mechanism(rawValue: CKM_RSA_AES_KEY_WRAP)
}

/// The hash of RSA-OAEP and of its MGF1.
public enum OAEPHash: Sendable {
    case sha1, sha256
}
