import Crypto
import PKCS11
import SigningKit
import Synchronization

/// A private key that stays on its token.
final class TokenKey: SigningKey {
    let publicKey: P256.Signing.PublicKey
    var custody: KeyCustody { .token }
    var tokenSerial: String? { connection.serial }
    /// The key's label and ID, for messages.
    let name: String
    let selector: KeySelector
    let pool: WorkerPool
    private let connection: TokenConnection
    /// Found once, and again after the module was initialised again. 0 while the token does not have the key.
    private let handle: Atomic<UInt>
    /// Set if the token requires the PIN for each signature.
    private let contextLogin: ContextLogin?
    /// A specific reason why there is no handle, if one is known.
    private let absenceReason = Mutex<KeyError?>(nil)
    let failures = KeyFailureHistory()
    private let lastFailure = Atomic<UInt64>(0)

    init(
        _ found: FoundKey, publicKey: P256.Signing.PublicKey, selector: KeySelector, pool: WorkerPool,
        connection: TokenConnection, contextLogin: ContextLogin?
    ) {
        self.publicKey = publicKey
        self.selector = selector
        self.pool = pool
        self.connection = connection
        self.contextLogin = contextLogin
        name = found.name
        handle = Atomic(found.handle.rawValue)
    }

    func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        if let absence { throw absence }
        if let refusal = contextLogin?.refusal { throw refusal }
        guard isFailing else { return try await pool.sign(digest, with: self) }
        try beginTrial()
        defer { endTrial() }
        return try await pool.sign(digest, with: self, isTrial: true)
    }

    func sign(_ digest: SHA256Digest, receive: @escaping SignatureReceiver) {
        if let error = absence ?? contextLogin?.refusal { return receive(.failure(error)) }
        guard isFailing else { return pool.sign(digest, with: self, receive: receive) }
        do throws(KeyError) { try beginTrial() } catch { return receive(.failure(error)) }
        pool.sign(digest, with: self, isTrial: true) { [self] result in
            endTrial()
            receive(result)
        }
    }

    /// Runs on a signing worker's thread or the maintenance thread. Nil if the signature is not 64 bytes long.
    func sign(_ digest: SHA256Digest, with signer: Signer) throws(SigningFault) -> P256Signature? {
        // The key may have been lost while the job waited.
        if let absence { throw .refused(absence, by: nil) }
        let key = ObjectHandle(rawValue: handle.load(ordering: .relaxed))
        let result: Result<P256Signature?, SigningFault> = digest.withUnsafeBytes { digest in
            Result { () throws(SigningFault) in Self.signature(try sign(digest, with: key, signer)) }
        }
        if case .failure(let fault) = result {
            lastFailure.store(MonotonicTime.nanoseconds(), ordering: .relaxed)
            if case .token(let error) = fault, error.losesKey { lost(key) }
        }
        return try result.get()
    }

    var isFailing: Bool { failures.hasFailurePause.load(ordering: .relaxed) }

    /// Why the key is not used now; nil if it is used.
    var failurePauseError: KeyError? { isFailing ? failures.failurePause.withLock { $0?.error } : nil }

    var hasFailed: Bool { isFailing || failures.failures.load(ordering: .relaxed) != 0 }

    /// Time of the last failure, in nanoseconds; 0 for never.
    var failureTime: UInt64 { lastFailure.load(ordering: .relaxed) }

    /// Takes only this key out of service. The maintenance thread searches for it while other keys sign.
    private func lost(_ key: ObjectHandle) {
        // Do nothing if a search has found the key meanwhile.
        guard handle.compareExchange(expected: key.rawValue, desired: 0, ordering: .relaxed).exchanged else { return }
        pool.backend?.keyLost(name)
    }

    private func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, _ signer: Signer
    ) throws(SigningFault) -> UnsafeRawBufferPointer {
        if let contextLogin {
            return try contextLogin.sign(in: signer.session) { login throws(PKCS11Error) in
                try signer.sign(digest, with: key, login: login)
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

    /// Whether a signature may be tried: the token has the key, and its PIN was not refused.
    var isUsable: Bool { isPresent && contextLogin?.refusal == nil }

    /// Whether the token requires the PIN for each signature.
    var requiresContextLogin: Bool { contextLogin != nil }

    /// Each proof with such a key may need a PIN from a person.
    var proofSchedule: ProofSchedule { requiresContextLogin ? .onDemand : .unlimited }

    private var absence: KeyError? {
        if isPresent { return nil }
        return absenceReason.withLock { $0 } ?? .unavailable("The token does not have \(name) now.")
    }

    var isPresent: Bool { handle.load(ordering: .relaxed) != 0 }

    func isAt(_ object: ObjectHandle) -> Bool { handle.load(ordering: .relaxed) == object.rawValue }

    func moved(to object: ObjectHandle) {
        recovered()
        absenceReason.withLock { $0 = nil }
        handle.store(object.rawValue, ordering: .relaxed)
    }

    /// The token no longer has the key, or has another one instead.
    func missed(because error: KeyError) {
        handle.store(0, ordering: .relaxed)
        absenceReason.withLock { reason in
            switch error {
            case .unfit, .unavailable: reason = error
            default: reason = nil
            }
        }
    }
}
