import CP11Kit

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

/// The uses of a mechanism that a token supports (flags of `CK_MECHANISM_INFO`).
public struct MechanismUse: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let encrypt = MechanismUse(rawValue: CKF_ENCRYPT)
    public static let sign = MechanismUse(rawValue: CKF_SIGN)
    public static let generate = MechanismUse(rawValue: CKF_GENERATE)
    public static let generateKeyPair = MechanismUse(rawValue: CKF_GENERATE_KEY_PAIR)
    public static let wrap = MechanismUse(rawValue: CKF_WRAP)
    public static let unwrap = MechanismUse(rawValue: CKF_UNWRAP)
}

extension Module {
    /// `C_GetMechanismInfo`; empty if the token does not have the mechanism.
    public func uses(of mechanism: Mechanism, on slot: SlotID) throws(PKCS11Error) -> MechanismUse {
        try call(.getMechanismInfo) { functions throws(PKCS11Error) in
            var info = CK_MECHANISM_INFO()
            let read = try ModuleOutput.function(.getMechanismInfo, functions.pointee.C_GetMechanismInfo)
            let answer = read(slot.rawValue, mechanism.rawValue, &info)
            if answer == CKR_MECHANISM_INVALID { return [] }
            try check(.getMechanismInfo, answer)
            return MechanismUse(rawValue: info.flags)
        }
    }
}
