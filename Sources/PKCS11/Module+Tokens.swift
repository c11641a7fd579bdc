internal import CP11Kit

extension Module {
    /// Slots that hold a token (`C_GetSlotList`).
    public func slots() throws(PKCS11Error) -> [SlotID] {
        try call(.getSlotList) { functions throws(PKCS11Error) in
            // A token may be plugged in between the two calls; then the second one says that there is no room.
            for _ in 0..<8 {
                var count: UInt = 0
                try check(.getSlotList, functions.pointee.C_GetSlotList(CK_BBOOL(CK_TRUE), nil, &count))
                var slots = [UInt](repeating: 0, count: Int(count))
                let answer = functions.pointee.C_GetSlotList(CK_BBOOL(CK_TRUE), &slots, &count)
                if answer == CKR_BUFFER_TOO_SMALL { continue }
                try check(.getSlotList, answer)
                return slots.prefix(Int(count)).map(SlotID.init(rawValue:))
            }
            throw PKCS11Error(.getSlotList, .bufferTooSmall)
        }
    }

    /// `C_GetTokenInfo`.
    public func tokenInfo(of slot: SlotID) throws(PKCS11Error) -> TokenInfo {
        try call(.getTokenInfo) { functions throws(PKCS11Error) in
            var info = CK_TOKEN_INFO()
            try check(.getTokenInfo, functions.pointee.C_GetTokenInfo(slot.rawValue, &info))
            return TokenInfo(info)
        }
    }

    /// Makes an empty token of what is in the slot (`C_InitToken`).
    ///
    /// - Parameter label: up to 32 bytes of UTF-8.
    public func initializeToken(in slot: SlotID, label: String, officerPIN: [UInt8]) throws(PKCS11Error) {
        var padded = Array(label.utf8.prefix(32))
        padded.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 32 - padded.count))
        var pin = officerPIN
        try call(.initToken) { functions throws(PKCS11Error) in
            let answer = functions.pointee.C_InitToken(slot.rawValue, &pin, UInt(pin.count), &padded)
            try check(.initToken, answer)
        }
    }
}

/// Turns an answer other than `CKR_OK` into an error.
@inline(__always)
func check(_ function: CryptokiFunction, _ answer: CK_RV) throws(PKCS11Error) {
    guard answer == CKR_OK else { throw PKCS11Error(function, ReturnValue(rawValue: answer)) }
}
