internal import CP11Kit

/// Secret keys, and keys that come or go encrypted under another one.
extension Session {
    /// `C_GenerateKey`.
    public func generateKey(_ mechanism: Mechanism, _ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        try call(.generateKey) { functions throws(PKCS11Error) in
            var mechanism = CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0)
            var key: UInt = 0
            let answer = AttributeTemplate.with(attributes) { template, count in
                functions.pointee.C_GenerateKey(handle, &mechanism, template, count, &key)
            }
            try check(.generateKey, answer)
            return ObjectHandle(rawValue: key)
        }
    }

    /// Encrypts in place, for a mechanism whose output is as long as its input (`C_EncryptInit`, `C_Encrypt`).
    public func encrypt(
        _ bytes: UnsafeMutableRawBufferPointer, with key: ObjectHandle, _ mechanism: Mechanism
    ) throws(PKCS11Error) {
        try call(.encryptInit) { functions throws(PKCS11Error) in
            var mechanism = CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0)
            try check(.encryptInit, functions.pointee.C_EncryptInit(handle, &mechanism, key.rawValue))
            // Not in place for the token: not every one allows that input and output overlap.
            let answer = withUnsafeTemporaryAllocation(byteCount: max(bytes.count, 1), alignment: 16) { output in
                defer { wipe(output) }
                var length = UInt(bytes.count)
                let answer = functions.pointee.C_Encrypt(
                    handle, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(bytes.count),
                    output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
                guard answer == CKR_OK else { return answer }
                guard length == UInt(bytes.count) else { return CKR_DATA_LEN_RANGE }
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[..<bytes.count]))
                return answer
            }
            try check(.encrypt, answer)
        }
    }

    /// `C_UnwrapKey`.
    public func unwrapKey(
        _ wrapped: [UInt8], with key: ObjectHandle, _ mechanism: Mechanism, _ attributes: [Attribute]
    ) throws(PKCS11Error) -> ObjectHandle {
        try call(.unwrapKey) { functions throws(PKCS11Error) in
            var wrapped = wrapped
            var object: UInt = 0
            let answer = mechanism.with { mechanism in
                AttributeTemplate.with(attributes) { template, count in
                    functions.pointee.C_UnwrapKey(
                        handle, mechanism, key.rawValue, &wrapped, UInt(wrapped.count), template, count, &object)
                }
            }
            try check(.unwrapKey, answer)
            return ObjectHandle(rawValue: object)
        }
    }

    /// `C_WrapKey`: what shows whether a key can be taken away.
    public func wrapKey(
        _ object: ObjectHandle, with key: ObjectHandle, _ mechanism: Mechanism
    ) throws(PKCS11Error) -> [UInt8] {
        try call(.wrapKey) { functions throws(PKCS11Error) in
            var wrapped = [UInt8](repeating: 0, count: 8192)
            var length = UInt(wrapped.count)
            let answer = mechanism.with { mechanism in
                functions.pointee.C_WrapKey(
                    handle, mechanism, key.rawValue, object.rawValue, &wrapped, &length)
            }
            try check(.wrapKey, answer)
            return Array(wrapped.prefix(Int(length)))
        }
    }
}

extension Mechanism {
    /// With the parameter that it has, for the time of one call.
    func with<Result>(_ body: (UnsafeMutablePointer<CK_MECHANISM>) -> Result) -> Result {
        guard self == .rsaOAEP else {
            var mechanism = CK_MECHANISM(mechanism: rawValue, pParameter: nil, ulParameterLen: 0)
            return body(&mechanism)
        }
        var parameters = CK_RSA_PKCS_OAEP_PARAMS(
            hashAlg: CKM_SHA_1, mgf: CKG_MGF1_SHA1, source: CKZ_DATA_SPECIFIED, pSourceData: nil, ulSourceDataLen: 0)
        return withUnsafeMutableBytes(of: &parameters) { parameters in
            var mechanism = CK_MECHANISM(
                mechanism: rawValue, pParameter: parameters.baseAddress, ulParameterLen: UInt(parameters.count))
            return body(&mechanism)
        }
    }
}
