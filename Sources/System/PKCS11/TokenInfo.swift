import CP11Kit

/// Information about a token (`CK_TOKEN_INFO`, PKCS #11 v2.40 §3.2).
public struct TokenInfo: Sendable {
    /// Some of the `CKF_…` flags, at the time of the call.
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// No object can be created or destroyed on the token.
        public static let writeProtected = Flags(rawValue: CKF_WRITE_PROTECTED)
        public static let loginRequired = Flags(rawValue: CKF_LOGIN_REQUIRED)
        public static let userPINInitialized = Flags(rawValue: CKF_USER_PIN_INITIALIZED)
        /// The PIN is entered on the token itself.
        public static let protectedAuthenticationPath = Flags(rawValue: CKF_PROTECTED_AUTHENTICATION_PATH)
        public static let tokenInitialized = Flags(rawValue: CKF_TOKEN_INITIALIZED)
        /// One more wrong PIN locks the token.
        public static let userPINFinalTry = Flags(rawValue: CKF_USER_PIN_FINAL_TRY)
        public static let userPINLocked = Flags(rawValue: CKF_USER_PIN_LOCKED)
    }

    public let label: String
    public let manufacturer: String
    public let model: String
    public let serial: String
    /// As in `2.6`.
    public let firmware: String
    /// As in `2.6`.
    public let hardware: String
    public let flags: Flags
    /// The maximum number of open sessions per application; nil if the token has no limit or names none.
    public let maximumSessions: Int?
    /// Label, serial number, manufacturer and model without padding, by their names in a URI (RFC 7512 §2.3).
    public let uriAttributes: [String: [UInt8]]

    init(_ info: CK_TOKEN_INFO) {
        uriAttributes = [
            "token": Self.bytes(info.label), "serial": Self.bytes(info.serialNumber),
            "manufacturer": Self.bytes(info.manufacturerID), "model": Self.bytes(info.model),
        ]
        label = Self.text(info.label)
        manufacturer = Self.text(info.manufacturerID)
        model = Self.text(info.model)
        serial = Self.text(info.serialNumber)
        firmware = Self.text(info.firmwareVersion)
        hardware = Self.text(info.hardwareVersion)
        flags = Flags(rawValue: info.flags)
        // CK_EFFECTIVELY_INFINITE is 0, CK_UNAVAILABLE_INFORMATION is all ones.
        maximumSessions = info.ulMaxSessionCount == 0 ? nil : Int(exactly: info.ulMaxSessionCount)
    }

    /// Removes the padding of a text field: PKCS #11 requires blanks, and some tokens end their texts with NUL.
    public static func withoutPadding(_ field: some Sequence<UInt8>) -> [UInt8] {
        let text = Array(field.prefix { $0 != 0 })
        return Array(text.prefix((text.lastIndex { $0 != UInt8(ascii: " ") } ?? -1) + 1))
    }

    private static func bytes<Field>(_ field: Field) -> [UInt8] { withUnsafeBytes(of: field) { withoutPadding($0) } }

    static func text<Field>(_ field: Field) -> String { String(decoding: bytes(field), as: UTF8.self) }

    static func text(_ version: CK_VERSION) -> String { "\(version.major).\(version.minor)" }

    /// The standard's names of the flags, in the order of their values.
    public var flagNames: [String] { Self.names.filter { flags.rawValue & $0.0 != 0 }.map(\.1) }

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
}

/// A slot (`CK_SLOT_ID`). Slot numbers change when tokens are created or moved, so a URI names one only as a hint.
public struct SlotID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
