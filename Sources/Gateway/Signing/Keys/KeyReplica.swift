import Encodings
public import SigningKit
import Synchronization

/// One place of a key: a location, and the key there, whether or not it is open.
public final class KeyReplica: Sendable {
    public let uri: KeyURI
    /// For people and metrics: the URI without its query, and without attributes that lead to a secret.
    public let name: String
    /// Nil if no backend serves the URI.
    package let connection: BackendConnection?
    /// The signatures in progress, for `KeySelection.leastBusy`.
    let inFlight = Atomic<Int>(0)
    private let isInProof = Atomic<Bool>(false)
    private let status: Mutex<Status>
    private let verificationFailure: VerificationFailureFlag

    private struct Status {
        var openKey: OpenKey?
        var failure: KeyError = .unavailable("The key has not been opened yet.")
        var lastProof: Result<ContinuousClock.Instant, KeyError>?
        /// When the key last signed a proof or tried to.
        var lastAttempt: ContinuousClock.Instant?
        /// Whether the key has signed a proof since it was opened.
        var hasProof = false
        var backendComplaint: String?
        /// Of the last key that was found here, also of a key that was refused.
        var tokenSerial: String?
    }

    /// Whether a place had a verification failure. New snapshots keep the flag while the connection stays.
    private final class VerificationFailureFlag: Sendable {
        let isRaised = Atomic<Bool>(false)
    }

    /// - Parameter former: the same place of the same key in the previous ring, with the same connection. This one takes
    ///   over its status.
    init(_ uri: KeyURI, name: String, connection: BackendConnection?, after former: KeyReplica? = nil) {
        (self.uri, self.name, self.connection) = (uri, name, connection)
        verificationFailure = former?.verificationFailure ?? VerificationFailureFlag()
        var inherited = former?.status.withLock { $0 } ?? Status()
        // The cause of a failure may have been corrected, so try again. The connection remembers a refused login.
        if inherited.openKey == nil { inherited = Status() }
        if let openKey = inherited.openKey {
            inherited.openKey = OpenKey(openKey.key)
            openKey.key.endFailurePause()
        }
        status = Mutex(inherited)
    }

    // MARK: Status

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

    /// Nil while the key is not open here.
    var openKey: OpenKey? { status.withLock { $0.openKey } }
    package var isOpen: Bool { openKey != nil }
    public var custody: KeyCustody? { openKey?.key.custody }
    /// The serial number of the token; nil if it is not known, or for a key outside a token.
    public var tokenSerial: String? { status.withLock { $0.openKey?.key.tokenSerial ?? $0.tokenSerial } }

    /// The open key.
    ///
    /// - Throws: why the key is not open.
    func current() throws(KeyError) -> OpenKey {
        try status.withLock { status throws(KeyError) in
            guard let openKey = status.openKey else { throw status.failure }
            return openKey
        }
    }

    /// Whether the last proof was signed, so that requests may use the place.
    var isUsable: Bool {
        status.withLock { status in
            guard status.openKey != nil, case .success = status.lastProof else { return false }
            return true
        }
    }

    /// Whether the open key has ever signed a proof.
    var hasProof: Bool { status.withLock { $0.openKey != nil && $0.hasProof } }

    var hasMadeBadSignature: Bool { verificationFailure.isRaised.load(ordering: .relaxed) }

    // MARK: Proofs

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
        guard let schedule = openKey?.key.proofSchedule else { return false }
        if age == .zero { return true }
        if let proofAge, state.canSign { return schedule.interval.map { proofAge >= max(age, $0) } ?? false }
        guard let last = status.withLock({ $0.lastAttempt }) else { return true }
        return .now - last >= schedule.retryInterval
    }

    var isProving: Bool { isInProof.load(ordering: .acquiring) }

    /// Begins a proof of the monitor.
    ///
    /// - Returns: false if one is in progress.
    func beginProof() -> Bool { !isInProof.exchange(true, ordering: .acquiringAndReleasing) }

    func endProof() { isInProof.store(false, ordering: .releasing) }

    // MARK: Changes. `KeyHandle` makes and records them.

    func fill(with key: any SigningKey) {
        status.withLock { status in
            status.openKey = OpenKey(key)
            (status.lastProof, status.lastAttempt, status.hasProof) = (nil, nil, false)
        }
    }

    /// Notes why the key could not be opened here.
    ///
    /// - Returns: whether this is news.
    func fail(with error: KeyError) -> Bool {
        status.withLock { status in
            defer { status.failure = error }
            return status.failure != error
        }
    }

    /// The open key is not used any more.
    func dropKey() { status.withLock { ($0.openKey, $0.lastProof, $0.hasProof) = (nil, nil, false) } }

    func note(tokenSerial: String?) { status.withLock { $0.tokenSerial = tokenSerial } }

    func note(_ health: KeyBackendHealth) {
        status.withLock { status in
            status.backendComplaint = if case .degraded(let sentence) = health { sentence } else { nil }
        }
    }

    func note(_ proof: Result<ContinuousClock.Instant, KeyError>) {
        status.withLock { status in
            (status.lastProof, status.lastAttempt) = (proof, .now)
            if case .success = proof { status.hasProof = true }
        }
    }

    /// Verifies all signatures from now on.
    func noteBadSignature() { verificationFailure.isRaised.store(true, ordering: .relaxed) }

    /// Whether a state of this place tells something: a key has no state before its first proof.
    var isJudged: Bool { status.withLock { $0.openKey == nil || $0.lastProof != nil } }

    /// Whether it is the same place, on this connection or on one with the same locator and settings.
    func precedes(_ uri: KeyURI, in connection: BackendConnection?) -> Bool {
        guard self.uri == uri else { return false }
        guard let own = self.connection, let connection else { return self.connection === connection }
        return own.meansSame(as: connection)
    }
}

/// An open key. It is a class, so that a request retains it with one reference.
final class OpenKey: Sendable {
    let key: any SigningKey
    /// Computed once: each request compares it with those of compromised keys.
    let publicKeyFingerprint: PublicKeyFingerprint
    /// Base64url of the fingerprint's 32 bytes.
    let fingerprint: [UInt8]
    /// Whether proofs of the key cost money or a login, so that they have a schedule.
    let hasProofSchedule: Bool
    /// Counts signatures, to sample them for verification.
    private let count = Atomic<Int>(0)

    init(_ key: any SigningKey) {
        self.key = key
        hasProofSchedule = key.proofSchedule != .unlimited
        publicKeyFingerprint = PublicKeyFingerprint(of: key.publicKey)
        fingerprint = Base64.url.encode(publicKeyFingerprint.bytes)
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

/// A signature, and the open key that made it.
struct KeySignature: Sendable {
    let signature: P256Signature
    private let openKey: OpenKey

    init(_ signature: P256Signature, by openKey: OpenKey) {
        (self.signature, self.openKey) = (signature, openKey)
    }

    /// For audit entries: Base64url of the fingerprint's 32 bytes.
    var fingerprint: [UInt8] { openKey.fingerprint }
    var tokenSerial: String? { openKey.key.tokenSerial }
    var custody: KeyCustody { openKey.key.custody }
}
