internal import CP11Kit

/// Signs one digest after the other with one session. Mechanism and buffers are made once, so that a signature costs
/// what the token takes for it. For one thread at a time.
public final class Signer: @unchecked Sendable {
    // Only touched by the thread that signs.
    public let session: Session
    private let mechanism: UnsafeMutablePointer<CK_MECHANISM>
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer

    /// Room for the largest signature over any curve, so that one of a wrong size is seen and not cut off.
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
    ///   - contextPIN: for a key that asks for the PIN each time; between the two calls.
    /// - Returns: the signature, valid until the next one.
    public func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, contextLogin: ContextLogin? = nil
    ) throws(PKCS11Error) -> UnsafeRawBufferPointer {
        let size = min(digest.count, input.count)
        input.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<size]))
        let length = try session.call(.signInit) { functions throws(PKCS11Error) in
            let begin = try ModuleAnswer.function(.signInit, functions.pointee.C_SignInit)
            let sign = try ModuleAnswer.function(.sign, functions.pointee.C_Sign)
            try check(.signInit, begin(session.handle, mechanism, key.rawValue))
            if let contextLogin {
                let answer = try Session.login(functions, session.handle, .contextSpecific, contextLogin.pin)
                try check(.login, answer)
            }
            var length = UInt(Self.outputSize)
            let answer = sign(
                session.handle, input.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(size),
                output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
            try check(.sign, answer)
            return try ModuleAnswer.count(length, atMost: Self.outputSize, from: .sign)
        }
        return UnsafeRawBufferPointer(rebasing: output[..<length])
    }

    /// A login for one signature.
    public struct ContextLogin {
        /// Nil where it is typed on the token itself.
        public let pin: UnsafeRawBufferPointer?

        public init(pin: UnsafeRawBufferPointer?) {
            self.pin = pin
        }
    }
}
