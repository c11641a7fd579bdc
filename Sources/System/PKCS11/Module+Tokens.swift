import CP11Kit

extension Module {
    /// Slots that hold a token (`C_GetSlotList`).
    public func slots() throws(PKCS11Error) -> [SlotID] {
        try numbers(.getSlotList, \.C_GetSlotList, atMost: ModuleOutput.slotLimit) { list, numbers, count in
            list(CK_BBOOL(CK_TRUE), numbers, count)
        }.map(SlotID.init(rawValue:))
    }

    /// The mechanisms of the token (`C_GetMechanismList`).
    public func mechanisms(on slot: SlotID) throws(PKCS11Error) -> [Mechanism] {
        try numbers(.getMechanismList, \.C_GetMechanismList, atMost: ModuleOutput.mechanismLimit) {
            list, numbers, count in
            list(slot.rawValue, numbers, count)
        }.map(Mechanism.init(rawValue:))
    }

    /// Reads a list in two calls: first its length, then its numbers.
    private func numbers<Function>(
        _ name: CryptokiFunction, _ function: KeyPath<CK_FUNCTION_LIST, Function?>, atMost limit: Int,
        _ read: (Function, UnsafeMutablePointer<UInt>?, UnsafeMutablePointer<UInt>) -> CK_RV
    ) throws(PKCS11Error) -> [UInt] {
        for _ in 0..<8 {
            var count: UInt = 0
            try call(name, function) { read($0, nil, &count) }
            let room = try ModuleOutput.count(count, atMost: limit, from: name)
            var numbers = [UInt](repeating: 0, count: room)
            do throws(PKCS11Error) {
                try call(name, function) { read($0, &numbers, &count) }
            } catch {
                // For example, a token was plugged in between the two calls.
                if error.returnValue == .bufferTooSmall { continue }
                throw error
            }
            return Array(numbers.prefix(try ModuleOutput.count(count, atMost: room, from: name)))
        }
        throw PKCS11Error(name, .bufferTooSmall)
    }

    /// `C_GetMechanismInfo`; empty if the token does not have the mechanism.
    public func uses(of mechanism: Mechanism, on slot: SlotID) throws(PKCS11Error) -> MechanismUse {
        var info = CK_MECHANISM_INFO()
        do throws(PKCS11Error) {
            try call(.getMechanismInfo, \.C_GetMechanismInfo) { $0(slot.rawValue, mechanism.rawValue, &info) }
        } catch {
            guard error.returnValue == .mechanismInvalid else { throw error }
            return []
        }
        return MechanismUse(rawValue: info.flags)
    }

    /// `C_GetTokenInfo`.
    public func tokenInfo(of slot: SlotID) throws(PKCS11Error) -> TokenInfo {
        var info = CK_TOKEN_INFO()
        try call(.getTokenInfo, \.C_GetTokenInfo) { $0(slot.rawValue, &info) }
        return TokenInfo(info)
    }

    /// Initialises the token in the slot, which erases it (`C_InitToken`).
    ///
    /// - Parameter label: up to 32 bytes of UTF-8.
    public func initializeToken(in slot: SlotID, label: String, officerPIN: [UInt8]) throws(PKCS11Error) {
        var padded = Array(label.utf8.prefix(32))
        padded.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 32 - padded.count))
        var pin = officerPIN
        try call(.initToken, \.C_InitToken) { $0(slot.rawValue, &pin, UInt(pin.count), &padded) }
    }

    /// `C_GetInfo`.
    public func info() throws(PKCS11Error) -> ModuleInfo {
        var info = CK_INFO()
        try call(.getInfo, \.C_GetInfo) { $0(&info) }
        return ModuleInfo(
            manufacturer: TokenInfo.text(info.manufacturerID), description: TokenInfo.text(info.libraryDescription),
            version: TokenInfo.text(info.libraryVersion), cryptokiVersion: TokenInfo.text(info.cryptokiVersion))
    }

    /// The flags of a slot (`C_GetSlotInfo`) by the standard's names, such as `CKF_HW_SLOT`.
    public func flags(of slot: SlotID) throws(PKCS11Error) -> [String] {
        var info = CK_SLOT_INFO()
        try call(.getSlotInfo, \.C_GetSlotInfo) { $0(slot.rawValue, &info) }
        return [
            (CKF_TOKEN_PRESENT, "CKF_TOKEN_PRESENT"), (CKF_REMOVABLE_DEVICE, "CKF_REMOVABLE_DEVICE"),
            (CKF_HW_SLOT, "CKF_HW_SLOT"),
        ].filter { info.flags & $0.0 != 0 }.map(\.1)
    }
}

/// Information about a library (`CK_INFO`).
public struct ModuleInfo: Sendable {
    public let manufacturer: String
    public let description: String
    /// The version of the library, as in `2.6`.
    public let version: String
    /// The version of the interface, as in `2.40`.
    public let cryptokiVersion: String
}

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
        /// The PIN is entered on the token itself.
        public static let protectedAuthenticationPath = Flags(rawValue: CKF_PROTECTED_AUTHENTICATION_PATH)
        public static let tokenInitialized = Flags(rawValue: CKF_TOKEN_INITIALIZED)
        /// One more wrong PIN locks the token.
        public static let userPINCountLow = Flags(rawValue: CKF_USER_PIN_COUNT_LOW)
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
}

extension TokenInfo {
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
