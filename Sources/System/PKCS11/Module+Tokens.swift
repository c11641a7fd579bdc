import CP11Kit

extension Module {
    /// Slots that hold a token (`C_GetSlotList`).
    public func slots() throws(PKCS11Error) -> [SlotID] {
        try call(.getSlotList) { functions throws(PKCS11Error) in
            let list = try ModuleOutput.function(.getSlotList, functions.pointee.C_GetSlotList)
            // If a token is plugged in between the two calls, the second one returns CKR_BUFFER_TOO_SMALL.
            for _ in 0..<8 {
                var count: UInt = 0
                try check(.getSlotList, list(CK_BBOOL(CK_TRUE), nil, &count))
                let room = try ModuleOutput.count(count, atMost: ModuleOutput.slotLimit, from: .getSlotList)
                var slots = [UInt](repeating: 0, count: room)
                let answer = list(CK_BBOOL(CK_TRUE), &slots, &count)
                if answer == CKR_BUFFER_TOO_SMALL { continue }
                try check(.getSlotList, answer)
                let length = try ModuleOutput.count(count, atMost: room, from: .getSlotList)
                return slots.prefix(length).map(SlotID.init(rawValue:))
            }
            throw PKCS11Error(.getSlotList, .bufferTooSmall)
        }
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

/// Information about a slot (`CK_SLOT_INFO`).
public struct SlotInfo: Sendable {
    public let description: String
    /// The standard's names, such as `CKF_HW_SLOT`.
    public let flags: [String]
}

extension Module {
    /// `C_GetInfo`.
    public func info() throws(PKCS11Error) -> ModuleInfo {
        var info = CK_INFO()
        try call(.getInfo, \.C_GetInfo) { $0(&info) }
        return ModuleInfo(
            manufacturer: TokenInfo.text(info.manufacturerID), description: TokenInfo.text(info.libraryDescription),
            version: TokenInfo.text(info.libraryVersion), cryptokiVersion: TokenInfo.text(info.cryptokiVersion))
    }

    /// `C_GetSlotInfo`.
    public func slotInfo(of slot: SlotID) throws(PKCS11Error) -> SlotInfo {
        var info = CK_SLOT_INFO()
        try call(.getSlotInfo, \.C_GetSlotInfo) { $0(slot.rawValue, &info) }
        let flags = [
            (CKF_TOKEN_PRESENT, "CKF_TOKEN_PRESENT"), (CKF_REMOVABLE_DEVICE, "CKF_REMOVABLE_DEVICE"),
            (CKF_HW_SLOT, "CKF_HW_SLOT"),
        ].filter { info.flags & $0.0 != 0 }.map(\.1)
        return SlotInfo(description: TokenInfo.text(info.slotDescription), flags: flags)
    }

    /// The mechanisms of the token (`C_GetMechanismList`).
    public func mechanisms(on slot: SlotID) throws(PKCS11Error) -> [Mechanism] {
        try call(.getMechanismList) { functions throws(PKCS11Error) in
            let read = try ModuleOutput.function(.getMechanismList, functions.pointee.C_GetMechanismList)
            var count: UInt = 0
            try check(.getMechanismList, read(slot.rawValue, nil, &count))
            let room = try ModuleOutput.count(count, atMost: ModuleOutput.mechanismLimit, from: .getMechanismList)
            var list = [UInt](repeating: 0, count: room)
            try check(.getMechanismList, read(slot.rawValue, &list, &count))
            let length = try ModuleOutput.count(count, atMost: room, from: .getMechanismList)
            return list.prefix(length).map(Mechanism.init(rawValue:))
        }
    }
}
