internal import CP11Kit

/// Attempts that a secure token refuses.
extension Session {
    /// Whether the token wraps a key (`C_WrapKey`); the output is wiped at once. Throws the return value if it refuses.
    public func gives(
        _ object: ObjectHandle, under key: ObjectHandle, by mechanism: Mechanism
    ) throws(PKCS11Error) -> Bool {
        try call(.wrapKey) { functions throws(PKCS11Error) in
            let wrap = try ModuleOutput.function(.wrapKey, functions.pointee.C_WrapKey)
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
