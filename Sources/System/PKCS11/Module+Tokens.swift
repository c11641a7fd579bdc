internal import CP11Kit

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
        try call(.getTokenInfo) { functions throws(PKCS11Error) in
            var info = CK_TOKEN_INFO()
            let read = try ModuleOutput.function(.getTokenInfo, functions.pointee.C_GetTokenInfo)
            try check(.getTokenInfo, read(slot.rawValue, &info))
            return TokenInfo(info)
        }
    }

    /// Initialises the token in the slot, which erases it (`C_InitToken`).
    ///
    /// - Parameter label: up to 32 bytes of UTF-8.
    public func initializeToken(in slot: SlotID, label: String, officerPIN: [UInt8]) throws(PKCS11Error) {
        var padded = Array(label.utf8.prefix(32))
        padded.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 32 - padded.count))
        var pin = officerPIN
        try call(.initToken) { functions throws(PKCS11Error) in
            let initialize = try ModuleOutput.function(.initToken, functions.pointee.C_InitToken)
            try check(.initToken, initialize(slot.rawValue, &pin, UInt(pin.count), &padded))
        }
    }
}

@inline(__always)
func check(_ function: CryptokiFunction, _ answer: CK_RV) throws(PKCS11Error) {
    guard answer == CKR_OK else { throw PKCS11Error(function, ReturnValue(rawValue: answer)) }
}
