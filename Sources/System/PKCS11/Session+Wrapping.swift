internal import CP11Kit

extension Session {
    /// `C_GenerateKey`.
    public func generateKey(_ mechanism: Mechanism, _ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        try call(.generateKey) { functions throws(PKCS11Error) in
            var mechanism = CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0)
            let generate = try ModuleOutput.function(.generateKey, functions.pointee.C_GenerateKey)
            var key: UInt = 0
            let answer = AttributeTemplate.with(attributes) { template, count in
                generate(handle, &mechanism, template, count, &key)
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
            let begin = try ModuleOutput.function(.encryptInit, functions.pointee.C_EncryptInit)
            let encrypt = try ModuleOutput.function(.encrypt, functions.pointee.C_Encrypt)
            try check(.encryptInit, begin(handle, &mechanism, key.rawValue))
            // The call needs a separate buffer: not every token allows overlapping input and output.
            let answer = withUnsafeTemporaryAllocation(byteCount: max(bytes.count, 1), alignment: 16) { output in
                defer { wipe(output) }
                var length = UInt(bytes.count)
                let answer = encrypt(
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

    /// `C_UnwrapKey`. The hash is for mechanisms with RSA-OAEP.
    public func unwrapKey(
        _ wrapped: [UInt8], with key: ObjectHandle, _ mechanism: Mechanism, hash: OAEPHash = .sha1,
        _ attributes: [Attribute]
    ) throws(PKCS11Error) -> ObjectHandle {
        try call(.unwrapKey) { functions throws(PKCS11Error) in
            let unwrap = try ModuleOutput.function(.unwrapKey, functions.pointee.C_UnwrapKey)
            var wrapped = wrapped
            var object: UInt = 0
            let answer = mechanism.with(hash) { mechanism in
                AttributeTemplate.with(attributes) { template, count in
                    unwrap(
                        handle, mechanism, key.rawValue, &wrapped, UInt(wrapped.count), template, count, &object)
                }
            }
            try check(.unwrapKey, answer)
            return ObjectHandle(rawValue: object)
        }
    }

    /// `C_WrapKey`, which shows whether a key can be extracted.
    public func wrapKey(
        _ object: ObjectHandle, with key: ObjectHandle, _ mechanism: Mechanism
    ) throws(PKCS11Error) -> [UInt8] {
        try call(.wrapKey) { functions throws(PKCS11Error) in
            let wrap = try ModuleOutput.function(.wrapKey, functions.pointee.C_WrapKey)
            var wrapped = [UInt8](repeating: 0, count: 8192)
            var length = UInt(wrapped.count)
            let answer = mechanism.with { mechanism in
                wrap(handle, mechanism, key.rawValue, object.rawValue, &wrapped, &length)
            }
            try check(.wrapKey, answer)
            return Array(wrapped.prefix(try ModuleOutput.count(length, atMost: wrapped.count, from: .wrapKey)))
        }
    }
}

extension Mechanism {
    /// Passes the mechanism with its parameter, valid during the call.
    func with<Result>(_ hash: OAEPHash = .sha1, _ body: (UnsafeMutablePointer<CK_MECHANISM>) -> Result) -> Result {
        var oaep = CK_RSA_PKCS_OAEP_PARAMS(hash)
        switch self {
        case .rsaOAEP:
            return with(parameter: &oaep, body)
        case .rsaAESKeyWrap:
            return withUnsafeMutablePointer(to: &oaep) { oaep in
                var parameter = RSAAESKeyWrapParameter(aesKeyBits: 256, oaep: oaep)
                return with(parameter: &parameter, body)
            }
        default:
            var mechanism = CK_MECHANISM(mechanism: rawValue, pParameter: nil, ulParameterLen: 0)
            return body(&mechanism)
        }
    }

    private func with<Parameter, Result>(
        parameter: inout Parameter, _ body: (UnsafeMutablePointer<CK_MECHANISM>) -> Result
    ) -> Result {
        withUnsafeMutableBytes(of: &parameter) { bytes in
            var mechanism = CK_MECHANISM(
                mechanism: rawValue, pParameter: bytes.baseAddress, ulParameterLen: UInt(bytes.count))
            return body(&mechanism)
        }
    }
}

/// `CK_RSA_AES_KEY_WRAP_PARAMS`, which p11-kit 0.24 does not have.
private struct RSAAESKeyWrapParameter {
    var aesKeyBits: UInt
    var oaep: UnsafeMutablePointer<CK_RSA_PKCS_OAEP_PARAMS>
}

extension CK_RSA_PKCS_OAEP_PARAMS {
    fileprivate init(_ hash: OAEPHash) {
        let (algorithm, mask): (UInt, UInt) =
            switch hash {
            case .sha1: (CKM_SHA_1, CKG_MGF1_SHA1)
            case .sha256: (CKM_SHA256, CKG_MGF1_SHA256)
            }
        self.init(
            hashAlg: algorithm, mgf: mask, source: CKZ_DATA_SPECIFIED, pSourceData: nil, ulSourceDataLen: 0)
    }
}
