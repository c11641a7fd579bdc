internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A private key that stays on its token.
final class TokenKey: SigningKey {
    let publicKey: P256.Signing.PublicKey
    var custody: KeyCustody { .token }
    /// For people: the URI's attributes of the key.
    let name: String
    let selector: KeySelector
    private let pool: LanePool
    /// Found once, and again after the module was re-initialised. 0 while the token does not have the key.
    private let handle: Atomic<UInt>
    /// Set where the token wants the PIN for each signature.
    private let contextLogin: ContextLogin?
    private let refusal = Mutex<KeyError?>(nil)

    /// A login before each signature (`CKA_ALWAYS_AUTHENTICATE`).
    struct ContextLogin: Sendable {
        /// Nil where it is typed on the token itself.
        let pin: Secret?
        /// Called with a PIN that the token refused.
        let refused: @Sendable (ReturnValue) -> KeyError
    }

    init(
        _ found: FoundKey, publicKey: P256.Signing.PublicKey, selector: KeySelector, pool: LanePool,
        contextLogin: ContextLogin?
    ) {
        self.publicKey = publicKey
        self.selector = selector
        self.pool = pool
        self.contextLogin = contextLogin
        name = found.name
        handle = Atomic(found.handle.rawValue)
    }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        if handle.load(ordering: .relaxed) == 0 { throw .unavailable("The token does not have \(name) now.") }
        if contextLogin != nil, let refusal = refusal.withLock({ $0 }) { throw refusal }
        return try await pool.sign(digest, with: self)
    }

    /// On a lane's thread, or on the keeper's.
    ///
    /// - Returns: nil for a signature of another size than 64 bytes.
    func sign(_ digest: SHA256Digest, with signer: Signer) throws(PKCS11Error) -> P256Signature? {
        let key = ObjectHandle(rawValue: handle.load(ordering: .relaxed))
        let result: Result<P256Signature?, PKCS11Error> = digest.withUnsafeBytes { digest in
            do throws(PKCS11Error) {
                return .success(Self.signature(try sign(digest, with: key, signer)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, _ signer: Signer
    ) throws(PKCS11Error) -> UnsafeRawBufferPointer {
        guard let contextLogin else { return try signer.sign(digest, with: key) }
        // A PIN that was refused once is not shown to the token again, not even by a job that is queued already.
        if refusal.withLock({ $0 != nil }) { throw PKCS11Error(.login, .pinIncorrect) }
        guard let pin = contextLogin.pin else {
            return try signer.sign(digest, with: key, contextLogin: Signer.ContextLogin(pin: nil))
        }
        return try pin.withBytes { pin throws(PKCS11Error) in
            try signer.sign(digest, with: key, contextLogin: Signer.ContextLogin(pin: pin))
        }
    }

    private static func signature(_ bytes: UnsafeRawBufferPointer) -> P256Signature? {
        guard bytes.count == 64 else { return nil }
        var raw = InlineArray<64, UInt8>(repeating: 0)
        withUnsafeMutableBytes(of: &raw) { $0.copyMemory(from: bytes) }
        return P256Signature(rawRepresentation: raw)
    }

    /// What an error of the token means to the caller.
    func failure(of error: PKCS11Error) -> KeyError {
        guard error.function == .login, error.returnValue.refusesPIN, let contextLogin else {
            return error.whileSigning(with: name)
        }
        return refusal.withLock { refusal in
            if let refusal { return refusal }
            let failure = contextLogin.refused(error.returnValue)
            refusal = failure
            return failure
        }
    }

    /// Whether a signature may be tried: the token has the key, and did not refuse its PIN.
    var isUsable: Bool { isPresent && refusal.withLock { $0 == nil } }

    var isPresent: Bool { handle.load(ordering: .relaxed) != 0 }

    /// - Parameter object: nil when the token does not have the key any more.
    func moved(to object: ObjectHandle?) {
        handle.store(object?.rawValue ?? 0, ordering: .relaxed)
    }
}
