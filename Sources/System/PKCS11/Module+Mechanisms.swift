internal import CP11Kit

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
