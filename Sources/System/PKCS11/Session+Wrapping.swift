import CP11Kit

extension Session {
    /// `C_GenerateKey`.
    public func generateKey(_ mechanism: Mechanism, _ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        var key: UInt = 0
        try call(.generateKey, \.C_GenerateKey) { generate in
            mechanism.with { mechanism in
                AttributeTemplate.with(attributes) { template, count in
                    generate(handle, mechanism, template, count, &key)
                }
            }
        }
        return ObjectHandle(rawValue: key)
    }

    /// Encrypts in place, for a mechanism whose output is as long as its input (`C_EncryptInit`, `C_Encrypt`).
    public func encrypt(
        _ bytes: UnsafeMutableRawBufferPointer, with key: ObjectHandle, _ mechanism: Mechanism
    ) throws(PKCS11Error) {
        try call(.encryptInit, \.C_EncryptInit) { begin in mechanism.with { begin(handle, $0, key.rawValue) } }
        // The call needs a separate buffer: not every token allows overlapping input and output.
        try call(.encrypt, \.C_Encrypt) { encrypt in
            withUnsafeTemporaryAllocation(byteCount: max(bytes.count, 1), alignment: 16) { output in
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
        }
    }

    /// `C_UnwrapKey`. The hash is for mechanisms with RSA-OAEP.
    public func unwrapKey(
        _ wrapped: [UInt8], with key: ObjectHandle, _ mechanism: Mechanism, hash: OAEPHash = .sha1,
        _ attributes: [Attribute]
    ) throws(PKCS11Error) -> ObjectHandle {
        var wrapped = wrapped
        var object: UInt = 0
        try call(.unwrapKey, \.C_UnwrapKey) { unwrap in
            mechanism.with(hash) { mechanism in
                AttributeTemplate.with(attributes) { template, count in
                    unwrap(handle, mechanism, key.rawValue, &wrapped, UInt(wrapped.count), template, count, &object)
                }
            }
        }
        return ObjectHandle(rawValue: object)
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

/// Attempts that a secure token refuses.
extension Session {
    /// Whether the token wraps a key (`C_WrapKey`); the output is wiped at once. Throws the return value if it refuses.
    public func gives(
        _ object: ObjectHandle, under key: ObjectHandle, by mechanism: Mechanism
    ) throws(PKCS11Error) -> Bool {
        var length: UInt = 0
        try call(.wrapKey, \.C_WrapKey) { wrap in
            withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 16) { room in
                defer { wipe(room) }
                length = UInt(room.count)
                return mechanism.with { mechanism in
                    wrap(
                        handle, mechanism, key.rawValue, object.rawValue,
                        room.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
                }
            }
        }
        return length != 0 && length != UInt.max
    }
}
