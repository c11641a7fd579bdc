import CP11Kit

/// The calls that create tokens and keys; signing needs none of them.
extension Session {
    /// Sets the user's PIN (`C_InitPIN`). The security officer must be logged in.
    public func initializePIN(_ pin: [UInt8]) throws(PKCS11Error) {
        var pin = pin
        try call(.initPIN, \.C_InitPIN) { $0(handle, &pin, UInt(pin.count)) }
    }

    /// `C_CreateObject`.
    public func createObject(_ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        var object: UInt = 0
        try call(.createObject, \.C_CreateObject) { create in
            AttributeTemplate.with(attributes) { template, count in create(handle, template, count, &object) }
        }
        return ObjectHandle(rawValue: object)
    }

    /// `C_DestroyObject`.
    public func destroy(_ object: ObjectHandle) throws(PKCS11Error) {
        try call(.destroyObject, \.C_DestroyObject) { $0(handle, object.rawValue) }
    }

    /// `C_GenerateKeyPair`.
    public func generateKeyPair(
        _ mechanism: Mechanism, publicKey: [Attribute], privateKey: [Attribute]
    ) throws(PKCS11Error) -> (publicKey: ObjectHandle, privateKey: ObjectHandle) {
        var pair: (UInt, UInt) = (0, 0)
        try call(.generateKeyPair, \.C_GenerateKeyPair) { generate in
            mechanism.with { mechanism in
                AttributeTemplate.with(publicKey) { publicTemplate, publicCount in
                    AttributeTemplate.with(privateKey) { template, count in
                        generate(
                            handle, mechanism, publicTemplate, publicCount, template, count, &pair.0, &pair.1)
                    }
                }
            }
        }
        return (ObjectHandle(rawValue: pair.0), ObjectHandle(rawValue: pair.1))
    }
}
