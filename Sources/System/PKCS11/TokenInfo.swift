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
    public let flags: Flags
    /// The maximum number of open sessions per application; nil if the token has no limit or names none.
    public let maximumSessions: Int?
    let raw: CK_TOKEN_INFO

    init(_ answer: CK_TOKEN_INFO) {
        var raw = answer
        Self.padWithBlanks(&raw.label)
        Self.padWithBlanks(&raw.manufacturerID)
        Self.padWithBlanks(&raw.model)
        Self.padWithBlanks(&raw.serialNumber)
        self.raw = raw
        label = Self.text(raw.label)
        manufacturer = Self.text(raw.manufacturerID)
        model = Self.text(raw.model)
        serial = Self.text(raw.serialNumber)
        firmware = "\(raw.firmwareVersion.major).\(raw.firmwareVersion.minor)"
        flags = Flags(rawValue: raw.flags)
        // CK_EFFECTIVELY_INFINITE is 0, CK_UNAVAILABLE_INFORMATION is all ones.
        maximumSessions = raw.ulMaxSessionCount == 0 ? nil : Int(exactly: raw.ulMaxSessionCount)
    }

    /// Some tokens end their texts with NUL. PKCS #11 requires blanks, and p11-kit compares every byte with a URI.
    private static func padWithBlanks<Field>(_ field: inout Field) {
        withUnsafeMutableBytes(of: &field) { bytes in
            guard let end = bytes.firstIndex(of: 0) else { return }
            for index in end..<bytes.count { bytes[index] = UInt8(ascii: " ") }
        }
    }

    /// Text fields are padded with blanks and not terminated.
    static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { bytes in
            let end = bytes.lastIndex { $0 != UInt8(ascii: " ") && $0 != 0 }
            return String(decoding: bytes[..<(end.map { $0 + 1 } ?? 0)], as: UTF8.self)
        }
    }
}

/// A slot (`CK_SLOT_ID`). Slot numbers change when tokens are created or moved, so a URI names one only as a hint.
public struct SlotID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}

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
