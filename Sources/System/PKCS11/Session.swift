import CP11Kit
import Synchronization

/// A session with a token (`CK_SESSION_HANDLE`), for one thread: PKCS #11 allows a session one operation at a time.
public final class Session: Sendable {
    /// `CK_USER_TYPE`. A vendor may define more, such as Luna's Crypto User (`CKU_LIMITED_USER`, 0x80000001).
    public struct User: RawRepresentable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let normal = User(rawValue: CKU_USER)
        public static let securityOfficer = User(rawValue: CKU_SO)
        /// An additional login for one operation with a key that requires it (`CKA_ALWAYS_AUTHENTICATE`).
        static let contextSpecific = User(rawValue: CKU_CONTEXT_SPECIFIC)
    }

    public let module: Module
    public let slot: SlotID
    /// `Module.generation` when the session was opened.
    public let generation: Int
    let handle: UInt

    /// `C_OpenSession`.
    public init(on slot: SlotID, of module: Module, writable: Bool = false) throws(PKCS11Error) {
        self.module = module
        self.slot = slot
        (handle, generation) = try module.call(.openSession) { functions throws(PKCS11Error) in
            var handle: UInt = 0
            let flags = CKF_SERIAL_SESSION | (writable ? CKF_RW_SESSION : 0)
            let open = try ModuleOutput.function(.openSession, functions.pointee.C_OpenSession)
            try check(.openSession, open(slot.rawValue, flags, nil, nil, &handle))
            return (handle, module.generation)
        }
    }

    /// Whether a user is logged in, by this or another session of the process (`C_GetSessionInfo`). States above those
    /// of the standard belong to vendor-defined users.
    public func isLoggedIn() throws(PKCS11Error) -> Bool {
        var info = CK_SESSION_INFO()
        try call(.getSessionInfo, \.C_GetSessionInfo) { $0(handle, &info) }
        return info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS
            || info.state > CKS_RW_SO_FUNCTIONS
    }

    /// `C_Login`, for all sessions of this process with the token.
    ///
    /// - Parameter pin: nil if the PIN is entered on the token itself.
    public func login(as user: User = .normal, pin: UnsafeRawBufferPointer?) throws(PKCS11Error) {
        try call(.login) { functions throws(PKCS11Error) in
            try check(.login, try Self.login(functions, handle, user, pin))
        }
    }

    /// `C_Logout`, for all sessions of this process with the token.
    public func logout() throws(PKCS11Error) { try call(.logout, \.C_Logout) { $0(handle) } }

    /// Sets the user's PIN (`C_InitPIN`). The security officer must be logged in.
    public func initializePIN(_ pin: [UInt8]) throws(PKCS11Error) {
        var pin = pin
        try call(.initPIN, \.C_InitPIN) { $0(handle, &pin, UInt(pin.count)) }
    }

    /// `C_CloseSession`. The token logs out when its last session closes.
    public func close() throws(PKCS11Error) { try call(.closeSession, \.C_CloseSession) { $0(handle) } }

    /// Leaves the session to `Module.closeAbandoned`. The caller must not use it any more. Any thread may call this.
    public func abandon() { module.abandoned.withLock { $0.append(self) } }

    static func login(
        _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ handle: UInt, _ user: User,
        _ pin: UnsafeRawBufferPointer?
    ) throws(PKCS11Error) -> CK_RV {
        let login = try ModuleOutput.function(.login, functions.pointee.C_Login)
        // The interface lacks `const` here; the PIN is only read.
        let bytes = UnsafeMutablePointer(mutating: pin?.baseAddress?.assumingMemoryBound(to: UInt8.self))
        return login(handle, user.rawValue, bytes, UInt(pin?.count ?? 0))
    }

    func call<Function>(
        _ name: CryptokiFunction, _ function: KeyPath<CK_FUNCTION_LIST, Function?>, _ body: (Function) -> CK_RV
    ) throws(PKCS11Error) {
        try module.call(name, of: generation, function, body)
    }

    @inline(__always)
    func call<Result>(
        _ function: CryptokiFunction,
        _ body: (UnsafeMutablePointer<CK_FUNCTION_LIST>) throws(PKCS11Error) -> Result
    ) throws(PKCS11Error) -> Result {
        try module.call(function, of: generation, body)
    }
}

extension Session {
    /// The objects with all of these attributes (`C_FindObjectsInit`, `C_FindObjects`, `C_FindObjectsFinal`).
    public func objects(with attributes: [Attribute], limit: Int = 256) throws(PKCS11Error) -> [ObjectHandle] {
        try call(.findObjectsInit) { functions throws(PKCS11Error) in
            let begin = try ModuleOutput.function(.findObjectsInit, functions.pointee.C_FindObjectsInit)
            let find = try ModuleOutput.function(.findObjects, functions.pointee.C_FindObjects)
            let end = try ModuleOutput.function(.findObjectsFinal, functions.pointee.C_FindObjectsFinal)
            let answer = attributes.withTemplate { template, count in begin(handle, template, count) }
            try check(.findObjectsInit, answer)
            defer { _ = end(handle) }
            var found: [UInt] = []
            var batch = [UInt](repeating: 0, count: 64)
            while found.count < limit {
                var count: UInt = 0
                let room = min(batch.count, limit - found.count)
                try check(.findObjects, find(handle, &batch, UInt(room), &count))
                if count == 0 { break }
                let length = try ModuleOutput.count(count, atMost: room, from: .findObjects)
                found.append(contentsOf: batch.prefix(length))
            }
            return found.map(ObjectHandle.init(rawValue:))
        }
    }

    /// The value of an attribute (`C_GetAttributeValue`); nil if the object has none.
    public func value(of kind: Attribute.Kind, in object: ObjectHandle) throws(PKCS11Error) -> [UInt8]? {
        do throws(PKCS11Error) {
            guard let room = try read(kind, of: object, into: nil, atMost: ModuleOutput.attributeLimit) else {
                return nil
            }
            if room == 0 { return [] }
            var value = [UInt8](repeating: 0, count: room)
            return try read(kind, of: object, into: &value, atMost: room).map { Array(value.prefix($0)) }
        } catch {
            guard error.returnValue == .attributeTypeInvalid else { throw error }
            return nil
        }
    }

    /// Whether the token reveals `CKA_VALUE`, and if not, how it refuses. The value is wiped at once. The behaviour of
    /// the token counts, not the attributes that it reports.
    public func revealsValue(of object: ObjectHandle) throws(PKCS11Error) -> (isGiven: Bool, refusal: ReturnValue?) {
        let length = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
            defer { wipe(room) }
            return Result { () throws(PKCS11Error) in
                try read(.value, of: object, into: room.baseAddress, atMost: room.count)
            }
        }
        do throws(PKCS11Error) { return (try length.get() ?? 0 > 0, nil) } catch {
            let refusals: [ReturnValue] = [.attributeSensitive, .attributeTypeInvalid, .keyUnextractable]
            guard refusals.contains(error.returnValue) else { throw error }
            return (false, error.returnValue)
        }
    }

    /// - Parameter place: nil to read the length only.
    /// - Returns: the length of the value; nil for CK_UNAVAILABLE_INFORMATION.
    private func read(
        _ kind: Attribute.Kind, of object: ObjectHandle, into place: UnsafeMutableRawPointer?, atMost limit: Int
    ) throws(PKCS11Error) -> Int? {
        var attribute = CK_ATTRIBUTE(
            type: kind.rawValue, pValue: place, ulValueLen: place == nil ? 0 : UInt(limit))
        try call(.getAttributeValue, \.C_GetAttributeValue) { $0(handle, object.rawValue, &attribute, 1) }
        if attribute.ulValueLen == UInt.max { return nil }
        return try ModuleOutput.count(attribute.ulValueLen, atMost: limit, from: .getAttributeValue)
    }

    /// A Boolean attribute; nil if the object has none, or one without a value.
    public func flag(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> Bool? {
        guard let bytes = try value(of: kind, in: object), !bytes.isEmpty else { return nil }
        return bytes.contains { $0 != 0 }
    }

    /// An attribute of the size of `CK_ULONG`; nil if the object has none of that size.
    public func number(_ kind: Attribute.Kind, of object: ObjectHandle) throws(PKCS11Error) -> UInt? {
        guard let bytes = try value(of: kind, in: object), bytes.count == MemoryLayout<UInt>.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt.self) }
    }

    /// `C_CreateObject`.
    public func createObject(_ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        try make(.createObject, \.C_CreateObject) { create, object in
            attributes.withTemplate { template, count in create(handle, template, count, object) }
        }
    }

    /// Makes one call that returns the handle of a new object.
    private func make<Function>(
        _ name: CryptokiFunction, _ function: KeyPath<CK_FUNCTION_LIST, Function?>,
        _ body: (Function, UnsafeMutablePointer<UInt>) -> CK_RV
    ) throws(PKCS11Error) -> ObjectHandle {
        var object: UInt = 0
        try call(name, function) { body($0, &object) }
        return ObjectHandle(rawValue: object)
    }

    /// `C_DestroyObject`.
    public func destroy(_ object: ObjectHandle) throws(PKCS11Error) {
        try call(.destroyObject, \.C_DestroyObject) { $0(handle, object.rawValue) }
    }
}

/// The calls that create, wrap and unwrap keys; signing needs none of them.
extension Session {
    /// `C_GenerateKey`.
    public func generateKey(_ mechanism: Mechanism, _ attributes: [Attribute]) throws(PKCS11Error) -> ObjectHandle {
        try make(.generateKey, \.C_GenerateKey) { generate, key in
            mechanism.with { mechanism in
                attributes.withTemplate { template, count in generate(handle, mechanism, template, count, key) }
            }
        }
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
        return try make(.unwrapKey, \.C_UnwrapKey) { unwrap, object in
            mechanism.with(hash) { mechanism in
                attributes.withTemplate { template, count in
                    unwrap(handle, mechanism, key.rawValue, &wrapped, UInt(wrapped.count), template, count, object)
                }
            }
        }
    }

    /// `C_GenerateKeyPair`.
    public func generateKeyPair(
        _ mechanism: Mechanism, publicKey: [Attribute], privateKey: [Attribute]
    ) throws(PKCS11Error) -> (publicKey: ObjectHandle, privateKey: ObjectHandle) {
        var pair: (UInt, UInt) = (0, 0)
        try call(.generateKeyPair, \.C_GenerateKeyPair) { generate in
            mechanism.with { mechanism in
                publicKey.withTemplate { publicTemplate, publicCount in
                    privateKey.withTemplate { template, count in
                        generate(
                            handle, mechanism, publicTemplate, publicCount, template, count, &pair.0, &pair.1)
                    }
                }
            }
        }
        return (ObjectHandle(rawValue: pair.0), ObjectHandle(rawValue: pair.1))
    }

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

/// The handle of an object (`CK_OBJECT_HANDLE`), valid for one initialisation of the module.
public struct ObjectHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
