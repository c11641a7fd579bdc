import CP11Kit
import Synchronization

/// A session with a token (`CK_SESSION_HANDLE`), for one thread: PKCS #11 allows a session one operation at a time.
public final class Session: Sendable {
    public enum User: Sendable {
        case normal
        case securityOfficer
        /// An additional login for one operation with a key that requires it (`CKA_ALWAYS_AUTHENTICATE`).
        case contextSpecific
        /// A vendor-defined type, such as Luna's Crypto User (`CKU_LIMITED_USER`, 0x80000001).
        case vendor(UInt)
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
    public func logout() throws(PKCS11Error) {
        try call(.logout, \.C_Logout) { $0(handle) }
    }

    /// `C_CloseSession`. The token logs out when its last session closes.
    public func close() throws(PKCS11Error) {
        try call(.closeSession, \.C_CloseSession) { $0(handle) }
    }

    /// `C_CloseSession` for several sessions, with no other call in flight: SoftHSM 2.6.1 crashes if a session is
    /// closed while others sign (its issues 464 and 688).
    ///
    /// - Returns: false if calls were still in progress after `milliseconds`; then nothing is closed.
    public static func close(_ sessions: [Session], within milliseconds: Int) -> Bool {
        guard let module = sessions.first?.module else { return true }
        let closed: Void? = module.gate.alone(within: milliseconds) {
            guard let close = module.functions?.pointee.C_CloseSession else { return }
            for session in sessions where session.generation == module.generation { _ = close(session.handle) }
        }
        return closed != nil
    }

    /// Closes unused sessions at once, or together with the next ones if a call is in progress.
    public static func abandon(_ sessions: [Session]) {
        guard let module = sessions.first?.module else { return }
        let all = module.abandoned.withLock { abandoned in
            defer { abandoned = [] }
            return (abandoned + sessions).filter { $0.generation == module.generation }
        }
        if !close(all, within: 50) { module.abandoned.withLock { $0 += all } }
    }

    static func login(
        _ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ handle: UInt, _ user: User,
        _ pin: UnsafeRawBufferPointer?
    ) throws(PKCS11Error) -> CK_RV {
        let login = try ModuleOutput.function(.login, functions.pointee.C_Login)
        let type =
            switch user {
            case .normal: CKU_USER
            case .securityOfficer: CKU_SO
            case .contextSpecific: CKU_CONTEXT_SPECIFIC
            case .vendor(let type): type
            }
        // The interface lacks `const` here; the PIN is only read.
        let bytes = UnsafeMutablePointer(mutating: pin?.baseAddress?.assumingMemoryBound(to: UInt8.self))
        return login(handle, type, bytes, UInt(pin?.count ?? 0))
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
