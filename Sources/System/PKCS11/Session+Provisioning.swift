internal import CP11Kit

/// The calls that create tokens and keys; signing needs none of them.
extension Session {
    /// Sets the user's PIN (`C_InitPIN`). The security officer must be logged in.
    public func initializePIN(_ pin: [UInt8]) throws(PKCS11Error) {
        var pin = pin
        try call(.initPIN) { functions throws(PKCS11Error) in
            let initialize = try ModuleOutput.function(.initPIN, functions.pointee.C_InitPIN)
            try check(.initPIN, initialize(handle, &pin, UInt(pin.count)))
        }
    }

    /// `C_CreateObject`.
    public func createObject(_ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        try call(.createObject) { functions throws(PKCS11Error) in
            var object: UInt = 0
            let create = try ModuleOutput.function(.createObject, functions.pointee.C_CreateObject)
            let answer = AttributeTemplate.with(attributes) { template, count in
                create(handle, template, count, &object)
            }
            try check(.createObject, answer)
            return ObjectHandle(rawValue: object)
        }
    }

    /// `C_DestroyObject`.
    public func destroy(_ object: ObjectHandle) throws(PKCS11Error) {
        try call(.destroyObject) { functions throws(PKCS11Error) in
            let destroy = try ModuleOutput.function(.destroyObject, functions.pointee.C_DestroyObject)
            try check(.destroyObject, destroy(handle, object.rawValue))
        }
    }

    /// `C_GenerateKeyPair`.
    public func generateKeyPair(
        _ mechanism: Mechanism, publicKey: [Attribute], privateKey: [Attribute]
    ) throws(PKCS11Error) -> (publicKey: ObjectHandle, privateKey: ObjectHandle) {
        try call(.generateKeyPair) { functions throws(PKCS11Error) in
            var mechanism = CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0)
            let generate = try ModuleOutput.function(.generateKeyPair, functions.pointee.C_GenerateKeyPair)
            var pair: (UInt, UInt) = (0, 0)
            let answer = AttributeTemplate.with(publicKey) { publicTemplate, publicCount in
                AttributeTemplate.with(privateKey) { privateTemplate, privateCount in
                    generate(
                        handle, &mechanism, publicTemplate, publicCount, privateTemplate, privateCount, &pair.0, &pair.1
                    )
                }
            }
            try check(.generateKeyPair, answer)
            return (ObjectHandle(rawValue: pair.0), ObjectHandle(rawValue: pair.1))
        }
    }
}
