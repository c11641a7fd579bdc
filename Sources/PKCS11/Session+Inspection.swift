internal import CP11Kit

/// Attempts that a good token refuses.
extension Session {
    /// Whether the token gives a key out under another one (`C_WrapKey`). What comes is wiped at once: nobody wants it.
    ///
    /// - Throws: what the token answers when it refuses.
    public func gives(
        _ object: ObjectHandle, under key: ObjectHandle, by mechanism: Mechanism
    ) throws(PKCS11Error) -> Bool {
        try call(.wrapKey) { functions throws(PKCS11Error) in
            let wrap = try ModuleAnswer.function(.wrapKey, functions.pointee.C_WrapKey)
            let (answer, length) = withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 16) { room in
                defer { wipe(room) }
                var length = UInt(room.count)
                let answer = mechanism.with { mechanism in
                    wrap(
                        handle, mechanism, key.rawValue, object.rawValue,
                        room.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
                }
                return (answer, length)
            }
            try check(.wrapKey, answer)
            return length != 0 && length != UInt.max
        }
    }
}
