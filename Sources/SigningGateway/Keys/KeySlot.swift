import AuditKit
import Base64
public import Crypto
import Logging
import Metrics
public import SigningKit
import Synchronization

/// A key of the configuration: the place for it in the ring, whether or not there is a key in it now.
public final class KeySlot: Sendable {
    public let plan: KeyPlan
    public let issuerID: String
    /// Whether it signs when a request names no key, as the configuration has it.
    public let isConfiguredActive: Bool
    /// Where the keys of its account stand; nil where no register is kept.
    let life: AccountKeys?

    /// Nil when no backend serves the key's URI.
    let place: KeyPlace?
    private let mode: VerificationMode
    private let status: Mutex<Status>
    private let suspicion: Suspicion
    private let badSignatures: Counter
    private let audit: AuditLog?
    private let logger = Logger(label: "privyseal.keys")

    private struct Status {
        var occupant: Occupant?
        var failure: KeyError = .unavailable("The key has not been opened yet.")
        var lastProof: Result<ContinuousClock.Instant, KeyError>?
        var backendComplaint: String?
        /// What the audit log was told last.
        var recorded: String?
    }

    /// The key in the slot. An object, so that a request takes hold of it at the cost of one reference.
    private final class Occupant: Sendable {
        let key: any SigningKey
        let verifier: SignatureVerifier
        /// Base64url of the fingerprint's 32 bytes.
        let fingerprint: [UInt8]

        init(_ key: any SigningKey, mode: VerificationMode) {
            self.key = key
            fingerprint = Base64.url.encode(PublicKeyFingerprint(of: key.publicKey).bytes)
            verifier = SignatureVerifier(key.publicKey, mode: mode)
        }
    }

    /// Whether a configuration that brings the key cannot be taken up unless it signs: a new key, one that becomes the
    /// active one, or one that signs now and whose place is opened anew. Others may be as they were.
    public let mustSign: Bool

    /// - Parameters:
    ///   - former: the slot that had the same key with the same locator and settings until now.
    ///   - isSamePlace: whether the backend of that slot goes on, and with it what is known of the key.
    init(
        _ plan: KeyPlan, issuerID: String, isActive: Bool, mode: VerificationMode, place: KeyPlace?,
        after former: KeySlot? = nil, isSamePlace: Bool = false, audit: AuditLog? = nil
    ) {
        let predecessor = isSamePlace ? former : nil
        self.audit = audit
        self.plan = plan
        self.issuerID = issuerID
        isConfiguredActive = isActive
        life = audit?.keys.account(issuerID)
        self.mode = mode
        self.place = place
        if let former {
            mustSign = (isActive && !former.isConfiguredActive) || (!isSamePlace && former.state.canSign)
        } else {
            mustSign = true
        }
        suspicion = predecessor?.suspicion ?? Suspicion()
        badSignatures = Counter(label: "privyseal_verification_failures_total", dimensions: [("key_id", plan.keyID)])
        // From now on it is there to be watched, before anything has gone wrong.
        badSignatures.increment(by: 0)
        var inherited = predecessor?.status.withLock { $0 } ?? Status()
        // What a person had to mend may have been mended; a refused login is for the place to remember.
        if inherited.occupant == nil { inherited = Status() }
        if let occupant = inherited.occupant {
            inherited.occupant = Occupant(occupant.key, mode: mode)
            occupant.key.tryAgain()
        }
        status = Mutex(inherited)
    }

    // MARK: What is known

    /// Whether it signs when a request names no key.
    public var isActive: Bool {
        guard let life, let known = life.key(plan.keyID) else { return isConfiguredActive }
        return known.state == .active
    }

    /// Where it stands in its life; nil where no register is kept.
    public var lifeState: KeyLifeState? { life?.key(plan.keyID)?.state }

    /// Whether a signature of it proves anything, see `KeyBoard.isTrustworthy`. True where no register is kept.
    public var isTrustworthy: Bool {
        guard let audit else { return true }
        return audit.keys.isTrustworthy(plan.keyID, fingerprint)
    }

    public var state: KeyState {
        status.withLock { status in
            guard status.occupant != nil else { return KeyState(status.failure) }
            if case .failure(let error) = status.lastProof { return KeyState(error) }
            if suspicion.isRaised {
                return .degraded("A signature did not verify against the key's own public key, and was not released.")
            }
            if let complaint = status.backendComplaint { return .degraded(complaint) }
            guard status.lastProof != nil else {
                return .down(.unavailable("The key has not signed a proof yet."))
            }
            return .ready
        }
    }

    /// Nil while there is no key.
    public var publicKey: P256.Signing.PublicKey? { status.withLock { $0.occupant?.key.publicKey } }
    public var custody: KeyCustody? { status.withLock { $0.occupant?.key.custody } }
    /// Whether each signature needs a login of its own.
    var asksForEachSignature: Bool { status.withLock { $0.occupant?.key.asksForEachSignature ?? false } }
    public var fingerprint: PublicKeyFingerprint? { publicKey.map(PublicKeyFingerprint.init(of:)) }

    /// For the record: Base64url of the fingerprint, and the serial number of the token. Empty and nil while there is no key.
    var evidence: (fingerprint: [UInt8], tokenSerial: String?) {
        guard let occupant = status.withLock({ $0.occupant }) else { return ([], nil) }
        return (occupant.fingerprint, occupant.key.tokenSerial)
    }

    /// Whether a signature of it did not verify.
    var hasMadeBadSignature: Bool { suspicion.isRaised }

    // MARK: Signing

    /// Signs, and verifies when it is due: a bad signature is never returned. A key that turns out to be unavailable is
    /// down from then on, until it signs a proof again.
    public func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature {
        let (occupant, isSuspicious) = try current()
        let signature: P256Signature
        do {
            signature = try await occupant.key.sign(digest)
        } catch {
            if error.makesKeyDown { note(.failure(error)) }
            throw error
        }
        if occupant.key.asksForEachSignature, !state.canSign {
            // No proof is asked of such a key while a person would have to type a PIN for it.
            try verify(signature, digest, with: occupant.verifier)
            note(.success(.now))
            return signature
        }
        if occupant.verifier.isDue(suspicious: isSuspicious) { try verify(signature, digest, with: occupant.verifier) }
        return signature
    }

    /// Signs a proof of possession, and verifies it whatever the mode.
    ///
    /// - Returns: why there is no proof; nil when there is.
    @discardableResult
    func prove() async -> KeyError? {
        do throws(KeyError) {
            let (occupant, _) = try current()
            let digest = ProofOfPossession().digest
            try verify(try await occupant.key.sign(digest), digest, with: occupant.verifier)
            note(.success(.now))
            return nil
        } catch {
            switch error {
            // A full queue is work and no failure: the requests in it prove the key. A proof that was cancelled says nothing.
            case .busy, .cancelled: break
            default: note(.failure(error))
            }
            return error
        }
    }

    /// How long ago the last proof was signed; nil when there is none that holds.
    var proofAge: Duration? {
        status.withLock { status in
            if case .success(let instant) = status.lastProof { .now - instant } else { nil }
        }
    }

    private func current() throws(KeyError) -> (Occupant, isSuspicious: Bool) {
        try status.withLock { status throws(KeyError) in
            guard let occupant = status.occupant else { throw status.failure }
            return (occupant, suspicion.isRaised)
        }
    }

    private func verify(
        _ signature: P256Signature, _ digest: SHA256Digest, with verifier: SignatureVerifier
    ) throws(KeyError) {
        guard !verifier.isValid(signature, for: digest) else { return }
        suspicion.raise()
        badSignatures.increment()
        recordState()
        logger.critical("A signature did not verify against the key's public key; it was not released", metadata: name)
        throw .failed("The key \(plan.keyID) made a signature that does not verify; it was not released.")
    }

    // MARK: What happens to it

    /// Puts a key into the slot, unless it is not the one that is pinned.
    func fill(with key: any SigningKey) {
        let fingerprint = PublicKeyFingerprint(of: key.publicKey)
        if let pinned = plan.pinned, pinned != fingerprint {
            let sentence = "The key's fingerprint is \(fingerprint), but \(pinned) is pinned: this is another key."
            return fail(with: .unfit(sentence))
        }
        if let expected = plan.publicKey, expected != Array(key.publicKey.x963Representation) {
            return fail(with: .unfit("The key's public key is not the one in the configured PEM: this is another key."))
        }
        status.withLock { status in
            status.occupant = Occupant(key, mode: mode)
            status.lastProof = nil
        }
    }

    func fail(with error: KeyError) {
        let isNews = status.withLock { status in
            defer { status.failure = error }
            return status.failure != error || status.occupant != nil
        }
        if isNews { logger.error("The key cannot sign: \(error)", metadata: name) }
        recordState()
    }

    func note(_ health: KeyBackendHealth) {
        status.withLock { status in
            if case .degraded(let sentence) = health {
                status.backendComplaint = sentence
            } else {
                status.backendComplaint = nil
            }
        }
        recordState()
    }

    private func note(_ proof: Result<ContinuousClock.Instant, KeyError>) {
        let before = state
        status.withLock { $0.lastProof = proof }
        let after = state
        recordState()
        guard before != after else { return }
        switch after {
        case .ready: logger.info("The key is ready", metadata: name)
        case .degraded(let why): logger.warning("The key is degraded: \(why)", metadata: name)
        case .down(let error), .refused(let error): logger.error("The key cannot sign: \(error)", metadata: name)
        }
    }

    /// Each state that the key comes into stands in the log once. Before its first proof, a key is in none.
    private func recordState() {
        guard let audit else { return }
        let state = state
        let isNews = status.withLock { status in
            if status.occupant != nil, status.lastProof == nil { return false }
            defer { status.recorded = state.name }
            return status.recorded != state.name
        }
        guard isNews else { return }
        audit.note(.key(record(of: state)))
    }

    /// Whether it is this key, in this place.
    func isSame(as plan: KeyPlan, in place: KeyPlace?) -> Bool { self.place === place && self.plan.isSameKey(as: plan) }

    /// Whether it had this key until now, in this place or in one with the same locator and settings.
    func precedes(_ plan: KeyPlan, in place: KeyPlace?) -> Bool {
        guard self.plan.isSameKey(as: plan) else { return false }
        guard let own = self.place, let place else { return self.place === place }
        return own.meansSame(as: place)
    }

    /// Whether the log has a state of it.
    var isRecorded: Bool { status.withLock { $0.recorded != nil } }

    func record(of state: KeyState) -> KeyRecord { record(state: state.name, reason: state.reason) }

    func record(state: String, reason: String? = nil) -> KeyRecord {
        let evidence = evidence
        return KeyRecord(
            keyID: plan.keyID, fingerprint: evidence.fingerprint.isEmpty ? nil : evidence.fingerprint, state: state,
            reason: reason, tokenSerial: evidence.tokenSerial)
    }

    private var name: Logger.Metadata { ["keyId": "\(plan.keyID)", "issuerId": "\(issuerID)"] }
}

extension KeyError {
    /// Whether the key does not sign from now on, as far as one request can tell.
    fileprivate var makesKeyDown: Bool {
        if case .unavailable = self { true } else { concernsLogin }
    }
}
