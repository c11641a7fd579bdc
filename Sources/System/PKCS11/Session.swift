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
