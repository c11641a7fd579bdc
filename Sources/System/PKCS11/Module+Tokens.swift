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
