import CP11Kit

/// Signs digests in one session, for one thread at a time. Mechanism and buffers are allocated once, for speed.
public final class Signer: @unchecked Sendable {
    // Only the signing thread accesses the properties.
    public let session: Session
    private let mechanism: UnsafeMutablePointer<CK_MECHANISM>
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer

    /// Large enough for a signature over any curve, so that a wrong size is detected and not truncated.
    private static let outputSize = 256

    public init(_ session: Session, _ mechanism: Mechanism) {
        self.session = session
        self.mechanism = .allocate(capacity: 1)
        self.mechanism.initialize(
            to: CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0))
        input = .allocate(byteCount: 64, alignment: 16)
        output = .allocate(byteCount: Self.outputSize, alignment: 16)
    }

    deinit {
        mechanism.deallocate()
        input.deallocate()
        output.deallocate()
    }

    /// `C_SignInit` and `C_Sign`.
    ///
    /// - Parameters:
    ///   - digest: up to 64 bytes.
    ///   - login: the login between the two calls, for a key that requires the PIN for each signature.
    /// - Returns: the signature, valid until the next call.
    public func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, login: ContextLogin = .none
    ) throws(PKCS11Error) -> UnsafeRawBufferPointer {
        let size = min(digest.count, input.count)
        input.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<size]))
        let length = try session.call(.signInit) { functions throws(PKCS11Error) in
            let begin = try ModuleOutput.function(.signInit, functions.pointee.C_SignInit)
            let sign = try ModuleOutput.function(.sign, functions.pointee.C_Sign)
            try check(.signInit, begin(session.handle, mechanism, key.rawValue))
            if case .pin(let pin) = login {
                try check(.login, try Session.login(functions, session.handle, .contextSpecific, pin))
            }
            var length = UInt(Self.outputSize)
            let answer = sign(
                session.handle, input.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(size),
                output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
            try check(.sign, answer)
            return try ModuleOutput.count(length, atMost: Self.outputSize, from: .sign)
        }
        return UnsafeRawBufferPointer(rebasing: output[..<length])
    }

    /// A login for one signature.
    public enum ContextLogin {
        case none
        /// Nil if the PIN is entered on the token itself.
        case pin(UnsafeRawBufferPointer?)
    }
}
