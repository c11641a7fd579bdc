internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A private key that stays on its token.
final class TokenKey: SigningKey {
    let publicKey: P256.Signing.PublicKey
    var custody: KeyCustody { .token }
    var tokenSerial: String? { serial.current }
    /// For people: the URI's attributes of the key.
    let name: String
    let selector: KeySelector
    private let pool: LanePool
    private let serial: TokenSerial
    /// Found once, and again after the module was re-initialised. 0 while the token does not have the key.
    private let handle: Atomic<UInt>
    /// Set where the token wants the PIN for each signature.
    private let contextLogin: ContextLogin?
    /// Why what the token has under this name must not be used.
    private let unfitness = Mutex<KeyError?>(nil)
    private let illness = Mutex<KeyIllness?>(nil)
    /// Whether there is an illness; so that a signature takes no lock.
    private let hasIllness = Atomic<Bool>(false)
    /// When it last failed, in nanoseconds; 0 for never.
    private let lastFailure = Atomic<UInt64>(0)

    init(
        _ found: FoundKey, publicKey: P256.Signing.PublicKey, selector: KeySelector, pool: LanePool,
        serial: TokenSerial, contextLogin: ContextLogin?
    ) {
        self.publicKey = publicKey
        self.selector = selector
        self.pool = pool
        self.serial = serial
        self.contextLogin = contextLogin
        name = found.name
        handle = Atomic(found.handle.rawValue)
    }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        if let absence { throw absence }
        if let refusal = contextLogin?.refusal { throw refusal }
        if isIll { try checkIllness() }
        return try await pool.sign(digest, with: self)
    }

    /// On a lane's thread, or on the keeper's.
    ///
    /// - Returns: nil for a signature of another size than 64 bytes.
    func sign(_ digest: SHA256Digest, with signer: Signer) throws(SigningFault) -> P256Signature? {
        // A job may have waited since the key was lost.
        if let absence { throw .refused(absence, by: nil) }
        let key = ObjectHandle(rawValue: handle.load(ordering: .relaxed))
        let result: Result<P256Signature?, SigningFault> = digest.withUnsafeBytes { digest in
            Result { () throws(SigningFault) in Self.signature(try sign(digest, with: key, signer)) }
        }
        switch result {
        case .success: if isIll { recovered() }
        case .failure(let fault):
            lastFailure.store(Clock.nanoseconds(), ordering: .relaxed)
            if case .token(let error) = fault, error.losesKey { lost(key) }
        }
        return try result.get()
    }

    // MARK: Illness

    /// From any thread: it does not sign, while its token does.
    func fellIll(_ error: KeyError) {
        let now = Clock.nanoseconds()
        let isNews = illness.withLock { illness in
            guard illness == nil else {
                illness?.extend(error, at: now)
                return false
            }
            illness = KeyIllness(error, at: now)
            return true
        }
        hasIllness.store(true, ordering: .relaxed)
        if isNews { pool.keyIll(name, because: error.description) }
    }

    var isIll: Bool { hasIllness.load(ordering: .relaxed) }

    /// When it last failed, in nanoseconds; 0 for never.
    var failed: UInt64 { lastFailure.load(ordering: .relaxed) }

    private func recovered() {
        illness.withLock { $0 = nil }
        hasIllness.store(false, ordering: .relaxed)
    }

    private func checkIllness() throws(KeyError) {
        let error = illness.withLock { illness -> KeyError? in
            illness?.admits(at: Clock.nanoseconds()) == false ? illness?.error : nil
        }
        if let error { throw error }
    }

    /// The key alone is down then: it is sought again, and the others go on.
    private func lost(_ key: ObjectHandle) {
        // Unless it was found again meanwhile.
        guard handle.compareExchange(expected: key.rawValue, desired: 0, ordering: .relaxed).exchanged else { return }
        pool.keyLost(name)
    }

    private func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, _ signer: Signer
    ) throws(SigningFault) -> UnsafeRawBufferPointer {
        if let contextLogin {
            return try contextLogin.sign(in: signer.session) { login throws(PKCS11Error) in
                try signer.sign(digest, with: key, contextLogin: login)
            }
        }
        do throws(PKCS11Error) {
            return try signer.sign(digest, with: key)
        } catch {
            throw .token(error)
        }
    }

    private static func signature(_ bytes: UnsafeRawBufferPointer) -> P256Signature? {
        guard bytes.count == 64 else { return nil }
        var raw = InlineArray<64, UInt8>(repeating: 0)
        withUnsafeMutableBytes(of: &raw) { $0.copyMemory(from: bytes) }
        return P256Signature(rawRepresentation: raw)
    }

    /// Whether a signature may be tried: the token has the key, and did not refuse its PIN.
    var isUsable: Bool { isPresent && contextLogin?.refusal == nil }

    var asksForEachSignature: Bool { contextLogin != nil }

    private var absence: KeyError? {
        if isPresent { return nil }
        return unfitness.withLock { $0 } ?? .unavailable("The token does not have \(name) now.")
    }

    var isPresent: Bool { handle.load(ordering: .relaxed) != 0 }

    func moved(to object: ObjectHandle) {
        recovered()
        unfitness.withLock { $0 = nil }
        handle.store(object.rawValue, ordering: .relaxed)
        pool.note(name, isMissing: false)
    }

    /// The token does not have the key any more, or another one instead.
    func missed(because error: KeyError) {
        handle.store(0, ordering: .relaxed)
        unfitness.withLock { unfitness in
            if case .unfit = error { unfitness = error } else { unfitness = nil }
        }
        pool.note(name, isMissing: true)
    }
}
