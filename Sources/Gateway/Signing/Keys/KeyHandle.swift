import AuditKit
import AuditLog
public import Crypto
import Encodings
import Logging
import Metrics
public import SigningKit
import Synchronization

/// A configured key, whether or not it is open.
public final class KeyHandle: Sendable {
    public let settings: KeySettings
    public let issuerID: String
    /// Whether the configuration makes it the active key of its account.
    public let isConfiguredActive: Bool
    /// The key states of its account; nil without a register.
    let life: AccountKeys?

    /// Nil if no backend serves the key's URI.
    package let connection: BackendConnection?
    private let mode: VerificationMode
    private let status: Mutex<Status>
    private let verificationFailure: VerificationFailureFlag
    private let badSignatures: Counter
    private let audit: SigningAudit?
    private let logger = Logger(label: "privyseal.keys")

    private struct Status {
        var openKey: OpenKey?
        var failure: KeyError = .unavailable("The key has not been opened yet.")
        var lastProof: Result<ContinuousClock.Instant, KeyError>?
        /// When the key last signed a proof or tried to.
        var lastAttempt: ContinuousClock.Instant?
        var backendComplaint: String?
        /// The name of the state that was last recorded in the audit log.
        var recorded: String?
    }

    /// The open key. It is a class, so that a request retains it with one reference.
    private final class OpenKey: Sendable {
        let key: any SigningKey
        /// Base64url of the fingerprint's 32 bytes.
        let fingerprint: [UInt8]
        /// Counts signatures, to sample them for verification.
        private let count = Atomic<Int>(0)

        init(_ key: any SigningKey) {
            self.key = key
            fingerprint = Base64.url.encode(PublicKeyFingerprint(of: key.publicKey).bytes)
        }

        func isVerificationDue(_ mode: VerificationMode, isSuspicious: Bool) -> Bool {
            switch mode {
            case .always: true
            case .off: isSuspicious
            case .sampled(let every):
                isSuspicious
                    || (count.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % max(1, every) == 0
            }
        }
    }

    /// Whether a key had a verification failure. New snapshots keep the flag while the connection stays.
    private final class VerificationFailureFlag: Sendable {
        let isRaised = Atomic<Bool>(false)
    }

    /// Whether a new configuration is rejected unless the key signs: a new key, a key that becomes the active one, or a
    /// key that signs now and gets another connection.
    public let mustSign: Bool

    /// - Parameters:
    ///   - former: the handle of the same key, with the same locator and settings, in the previous ring.
    ///   - isSameConnection: whether `former` has the same connection. The handle then takes over its status.
    init(
        _ settings: KeySettings, issuerID: String, isActive: Bool, mode: VerificationMode,
        connection: BackendConnection?, after former: KeyHandle? = nil, isSameConnection: Bool = false,
        audit: SigningAudit? = nil
    ) {
        let predecessor = isSameConnection ? former : nil
        self.audit = audit
        self.settings = settings
        self.issuerID = issuerID
        isConfiguredActive = isActive
        life = audit?.keyStates.account(issuerID)
        self.mode = mode
        self.connection = connection
        mustSign =
            former.map { (isActive && !$0.isConfiguredActive) || (!isSameConnection && $0.state.canSign) } ?? true
        verificationFailure = predecessor?.verificationFailure ?? VerificationFailureFlag()
        badSignatures = Counter(
            label: "privyseal_verification_failures_total", dimensions: [("key_id", settings.keyID)])
        // Export the counter as 0, so that alerts can see its first increment.
        badSignatures.increment(by: 0)
        var inherited = predecessor?.status.withLock { $0 } ?? Status()
        // The cause of a failure may have been corrected, so try again. The connection remembers a refused login.
        if inherited.openKey == nil { inherited = Status() }
        if let openKey = inherited.openKey {
            inherited.openKey = OpenKey(openKey.key)
            openKey.key.endFailurePause()
        }
        status = Mutex(inherited)
    }

    // MARK: Status

    /// Whether the key signs requests that name no key.
    public var isActive: Bool {
        guard let life, let known = life.key(settings.keyID) else { return isConfiguredActive }
        return known.state == .active
    }

    /// The lifecycle state; nil without a register.
    public var lifeState: KeyLifecycleState? { life?.key(settings.keyID)?.state }

    /// Whether a signature of the key proves anything, see `KeyStates.isTrustworthy`. True without an audit log.
    public var isTrustworthy: Bool {
        guard let audit else { return true }
        return audit.keyStates.isTrustworthy(settings.keyID, fingerprint)
    }

    public var state: KeyState {
        status.withLock { status in
            guard status.openKey != nil else { return KeyState(status.failure) }
            if case .failure(let error) = status.lastProof { return KeyState(error) }
            if hasMadeBadSignature {
                return .degraded("A signature did not verify against the key's own public key, and was not released.")
            }
            if let complaint = status.backendComplaint { return .degraded(complaint) }
            guard status.lastProof != nil else {
                return .down(.unavailable("The key has not signed a proof yet."))
            }
            return .ready
        }
    }

    /// Nil while the key is not open.
    public var publicKey: P256.Signing.PublicKey? { status.withLock { $0.openKey?.key.publicKey } }
    public var custody: KeyCustody? { status.withLock { $0.openKey?.key.custody } }
    public var fingerprint: PublicKeyFingerprint? { publicKey.map(PublicKeyFingerprint.init(of:)) }

    /// For audit entries: the fingerprint in Base64url, and the token's serial number. Empty and nil while not open.
    var evidence: (fingerprint: [UInt8], tokenSerial: String?) {
        guard let openKey = status.withLock({ $0.openKey }) else { return ([], nil) }
        return (openKey.fingerprint, openKey.key.tokenSerial)
    }

    /// Whether there was a verification failure.
    package var hasMadeBadSignature: Bool { verificationFailure.isRaised.load(ordering: .relaxed) }

    // MARK: Signing

    /// Signs, and verifies the signature if `mode` requires it. A signature that fails verification is not returned. A
    /// key that is unavailable is down until it signs a proof again.
    public func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        let openKey = try current()
        let signature: P256Signature
        do { signature = try await openKey.key.sign(digest) } catch {
            if error.makesKeyDown { note(.failure(error)) }
            throw error
        }
        // A proof by a key with a schedule would cost money or a login, so a signature for a request counts as one.
        let isProof = openKey.key.proofSchedule != .unlimited && (proofAge ?? .seconds(1)) >= .seconds(1)
        if isProof || openKey.isVerificationDue(mode, isSuspicious: hasMadeBadSignature) {
            try verify(signature, digest, by: openKey.key)
        }
        if isProof { note(.success(.now)) }
        return signature
    }

    /// Signs a proof of possession, and verifies it in every mode.
    ///
    /// - Returns: the reason if there is no proof; nil for a valid one.
    @discardableResult
    package func prove() async -> KeyError? {
        do throws(KeyError) {
            let key = try current().key
            let digest = ProofOfPossession().digest
            try verify(try await key.sign(digest), digest, by: key)
            note(.success(.now))
            return nil
        } catch {
            switch error {
            // A full queue is no failure: its signatures show whether the key works. A cancelled proof shows nothing.
            case .busy, .cancelled: break
            default: note(.failure(error))
            }
            return error
        }
    }

    /// How long ago the last proof was signed; nil if it failed or there is none.
    package var proofAge: Duration? {
        status.withLock { status in
            if case .success(let instant) = status.lastProof { .now - instant } else { nil }
        }
    }

    /// Whether the key shall sign a proof now.
    ///
    /// - Parameter age: the age from which the caller wants another proof; zero for a proof at any cost.
    func isProofDue(olderThan age: Duration) -> Bool {
        guard let schedule = status.withLock({ $0.openKey?.key.proofSchedule }) else { return false }
        if age == .zero { return true }
        if let proofAge, state.canSign { return schedule.interval.map { proofAge >= max(age, $0) } ?? false }
        guard let last = status.withLock({ $0.lastAttempt }) else { return true }
        return .now - last >= schedule.retryInterval
    }

    private func current() throws(KeyError) -> OpenKey {
        try status.withLock { status throws(KeyError) in
            guard let openKey = status.openKey else { throw status.failure }
            return openKey
        }
    }

    private func verify(
        _ signature: P256Signature, _ digest: SHA256Digest, by key: any SigningKey
    ) throws(KeyError) {
        guard !key.publicKey.verifies(signature, of: digest) else { return }
        verificationFailure.isRaised.store(true, ordering: .relaxed)
        badSignatures.increment()
        recordState()
        logger.critical("A signature did not verify against the key's public key; it was not released", metadata: name)
        throw .failed("The key \(settings.keyID) made a signature that does not verify; it was not released.")
    }

    // MARK: Changes

    /// Sets the open key, unless it does not match the pinned fingerprint or the configured public key.
    func fill(with key: any SigningKey) {
        let fingerprint = PublicKeyFingerprint(of: key.publicKey)
        if let pinned = settings.pinned, pinned != fingerprint {
            let sentence = "The key's fingerprint is \(fingerprint), but \(pinned) is pinned: this is another key."
            return fail(with: .unfit(sentence))
        }
        if let expected = settings.publicKey, expected != Array(key.publicKey.x963Representation) {
            return fail(with: .unfit("The key's public key is not the one in the configured PEM: this is another key."))
        }
        status.withLock { status in
            status.openKey = OpenKey(key)
            (status.lastProof, status.lastAttempt) = (nil, nil)
        }
    }

    func fail(with error: KeyError) {
        let isNews = status.withLock { status in
            defer { status.failure = error }
            return status.failure != error || status.openKey != nil
        }
        if isNews { logger.error("The key cannot sign: \(error)", metadata: name) }
        recordState()
    }

    func note(_ health: KeyBackendHealth) {
        status.withLock { status in
            status.backendComplaint = if case .degraded(let sentence) = health { sentence } else { nil }
        }
        recordState()
    }

    private func note(_ proof: Result<ContinuousClock.Instant, KeyError>) {
        let before = state
        status.withLock { ($0.lastProof, $0.lastAttempt) = (proof, .now) }
        let after = state
        recordState()
        guard before != after else { return }
        switch after {
        case .ready: logger.info("The key is ready", metadata: name)
        case .degraded(let why): logger.warning("The key is degraded: \(why)", metadata: name)
        case .down(let error), .refused(let error): logger.error("The key cannot sign: \(error)", metadata: name)
        }
    }

    /// Records each new state once. A key has no state before its first proof.
    private func recordState() {
        guard let audit else { return }
        let state = state
        let isNews = status.withLock { status in
            if status.openKey != nil, status.lastProof == nil { return false }
            defer { status.recorded = state.name }
            return status.recorded != state.name
        }
        guard isNews else { return }
        audit.log.note(event(of: state))
    }

    /// Whether it is this key on this connection.
    func isSame(as settings: KeySettings, in connection: BackendConnection?) -> Bool {
        self.connection === connection && self.settings.isSameKey(as: settings)
    }

    /// Whether it is this key, on this connection or on one with the same locator and settings.
    func precedes(_ settings: KeySettings, in connection: BackendConnection?) -> Bool {
        guard self.settings.isSameKey(as: settings) else { return false }
        guard let own = self.connection, let connection else { return self.connection === connection }
        return own.meansSame(as: connection)
    }

    /// Whether the audit log has a state of the key.
    var isRecorded: Bool { status.withLock { $0.recorded != nil } }

    func event(of state: KeyState) -> AuditEvent { event(state: state.name, reason: state.reason) }

    func event(state: String, reason: String? = nil) -> AuditEvent {
        let evidence = evidence
        return .key(
            keyID: settings.keyID, fingerprint: evidence.fingerprint.isEmpty ? nil : evidence.fingerprint, state: state,
            reason: reason, tokenSerial: evidence.tokenSerial)
    }

    private var name: Logger.Metadata { ["keyId": "\(settings.keyID)", "issuerId": "\(issuerID)"] }
}

extension KeyError {
    /// Whether the key is down after this error, as far as one request can tell.
    fileprivate var makesKeyDown: Bool {
        if case .unavailable = self { true } else { concernsLogin }
    }
}
