internal import CP11Kit

extension TokenInfo {
    /// The hardware version, as in `2.6`.
    public var hardware: String { Self.text(raw.hardwareVersion) }

    /// The standard's names of the flags, in the order of their values.
    public var flagNames: [String] { Self.names.filter { raw.flags & $0.0 != 0 }.map(\.1) }

    private static let names: [(UInt, String)] = [
        (CKF_RNG, "CKF_RNG"), (CKF_WRITE_PROTECTED, "CKF_WRITE_PROTECTED"),
        (CKF_LOGIN_REQUIRED, "CKF_LOGIN_REQUIRED"), (CKF_USER_PIN_INITIALIZED, "CKF_USER_PIN_INITIALIZED"),
        (CKF_RESTORE_KEY_NOT_NEEDED, "CKF_RESTORE_KEY_NOT_NEEDED"), (CKF_CLOCK_ON_TOKEN, "CKF_CLOCK_ON_TOKEN"),
        (CKF_PROTECTED_AUTHENTICATION_PATH, "CKF_PROTECTED_AUTHENTICATION_PATH"),
        (CKF_DUAL_CRYPTO_OPERATIONS, "CKF_DUAL_CRYPTO_OPERATIONS"), (CKF_TOKEN_INITIALIZED, "CKF_TOKEN_INITIALIZED"),
        (CKF_USER_PIN_COUNT_LOW, "CKF_USER_PIN_COUNT_LOW"), (CKF_USER_PIN_FINAL_TRY, "CKF_USER_PIN_FINAL_TRY"),
        (CKF_USER_PIN_LOCKED, "CKF_USER_PIN_LOCKED"), (CKF_USER_PIN_TO_BE_CHANGED, "CKF_USER_PIN_TO_BE_CHANGED"),
        (CKF_SO_PIN_COUNT_LOW, "CKF_SO_PIN_COUNT_LOW"), (CKF_SO_PIN_FINAL_TRY, "CKF_SO_PIN_FINAL_TRY"),
        (CKF_SO_PIN_LOCKED, "CKF_SO_PIN_LOCKED"), (CKF_SO_PIN_TO_BE_CHANGED, "CKF_SO_PIN_TO_BE_CHANGED"),
    ]

    static func text(_ version: CK_VERSION) -> String { "\(version.major).\(version.minor)" }
}
