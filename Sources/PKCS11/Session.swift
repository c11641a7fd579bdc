internal import CP11Kit
internal import Synchronization

/// A session with a token (`CK_SESSION_HANDLE`). For one thread at a time: the standard lets a session do one thing
/// at once.
public final class Session: Sendable {
    public enum User: Sendable {
        case normal
        case securityOfficer
        /// Once more for one operation with a key that always asks (`CKA_ALWAYS_AUTHENTICATE`).
        case contextSpecific
        /// A type that the vendor defined, such as Luna's Crypto User (`CKU_LIMITED_USER`, 0x80000001).
        case vendor(UInt)
    }

    public let module: Module
    public let slot: SlotID
    /// Of the module when the session was opened.
    public let generation: Int
    let handle: UInt

    /// `C_OpenSession`.
    public init(on slot: SlotID, of module: Module, writable: Bool = false) throws(PKCS11Error) {
        self.module = module
        self.slot = slot
        (handle, generation) = try module.call(.openSession) { functions throws(PKCS11Error) in
            var handle: UInt = 0
            let flags = CKF_SERIAL_SESSION | (writable ? CKF_RW_SESSION : 0)
            let open = try ModuleAnswer.function(.openSession, functions.pointee.C_OpenSession)
            try check(.openSession, open(slot.rawValue, flags, nil, nil, &handle))
            return (handle, module.generation)
        }
    }

    /// Whether a user is logged in, by this session or by another of the process (`C_GetSessionInfo`). States above
    /// those of the standard belong to users that a vendor defined.
    public func isLoggedIn() throws(PKCS11Error) -> Bool {
        try call(.getSessionInfo) { functions throws(PKCS11Error) in
            var info = CK_SESSION_INFO()
            let read = try ModuleAnswer.function(.getSessionInfo, functions.pointee.C_GetSessionInfo)
            try check(.getSessionInfo, read(handle, &info))
            return info.state == CKS_RO_USER_FUNCTIONS || info.state == CKS_RW_USER_FUNCTIONS
                || info.state > CKS_RW_SO_FUNCTIONS
        }
    }

    /// `C_Login`, for all sessions that this process has with the token.
    ///
    /// - Parameter pin: nil where it is typed on the token itself.
    public func login(as user: User = .normal, pin: UnsafeRawBufferPointer?) throws(PKCS11Error) {
        try call(.login) { functions throws(PKCS11Error) in
            try check(.login, try Self.login(functions, handle, user, pin))
        }
    }

    /// `C_Logout`, for all sessions that this process has with the token.
    public func logout() throws(PKCS11Error) {
        try call(.logout) { functions throws(PKCS11Error) in
            try check(.logout, try ModuleAnswer.function(.logout, functions.pointee.C_Logout)(handle))
        }
    }

    /// `C_CloseSession`. The last one with a token logs out.
    public func close() throws(PKCS11Error) {
        try call(.closeSession) { functions throws(PKCS11Error) in
            let close = try ModuleAnswer.function(.closeSession, functions.pointee.C_CloseSession)
            try check(.closeSession, close(handle))
        }
    }

    /// `C_CloseSession` for several, with no other call in flight: SoftHSM 2.6.1 crashes when a session is closed
    /// while others sign (its issues 464 and 688).
    ///
    /// - Returns: false when calls were still under way after `milliseconds`; nothing is closed then.
    public static func close(_ sessions: [Session], within milliseconds: Int) -> Bool {
        guard let module = sessions.first?.module else { return true }
        let closed: Void? = module.gate.alone(within: milliseconds) {
            guard let close = module.functions?.pointee.C_CloseSession else { return }
            for session in sessions where session.generation == module.generation { _ = close(session.handle) }
        }
        return closed != nil
    }

    /// Closes sessions that nothing uses any more: at once, or with the next ones where a call is under way.
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
        let login = try ModuleAnswer.function(.login, functions.pointee.C_Login)
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

    @inline(__always)
    func call<Result>(
        _ function: CryptokiFunction,
        _ body: (UnsafeMutablePointer<CK_FUNCTION_LIST>) throws(PKCS11Error) -> Result
    ) throws(PKCS11Error) -> Result {
        try module.call(function, of: generation, body)
    }
}
