internal import CP11Kit

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
        try call(.getInfo) { functions throws(PKCS11Error) in
            var info = CK_INFO()
            let read = try ModuleOutput.function(.getInfo, functions.pointee.C_GetInfo)
            try check(.getInfo, read(&info))
            return ModuleInfo(
                manufacturer: TokenInfo.text(info.manufacturerID), description: TokenInfo.text(info.libraryDescription),
                version: TokenInfo.text(info.libraryVersion), cryptokiVersion: TokenInfo.text(info.cryptokiVersion))
        }
    }

    /// `C_GetSlotInfo`.
    public func slotInfo(of slot: SlotID) throws(PKCS11Error) -> SlotInfo {
        try call(.getSlotInfo) { functions throws(PKCS11Error) in
            var info = CK_SLOT_INFO()
            let read = try ModuleOutput.function(.getSlotInfo, functions.pointee.C_GetSlotInfo)
            try check(.getSlotInfo, read(slot.rawValue, &info))
            let flags = [
                (CKF_TOKEN_PRESENT, "CKF_TOKEN_PRESENT"), (CKF_REMOVABLE_DEVICE, "CKF_REMOVABLE_DEVICE"),
                (CKF_HW_SLOT, "CKF_HW_SLOT"),
            ].filter { info.flags & $0.0 != 0 }.map(\.1)
            return SlotInfo(description: TokenInfo.text(info.slotDescription), flags: flags)
        }
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
