import AuditKit
import AuditLog
public import Crypto
import Logging
import Metrics
public import SigningKit
import Synchronization

/// A configured key, whether or not it is open. It has one public key, and one or more places.
public final class KeyHandle: Sendable {
    public let settings: KeySettings
    public let issuerID: String
    /// Whether the configuration makes it the active key of its account.
    public let isConfiguredActive: Bool
    /// The key states of its account; nil without a register.
    let life: AccountKeys?

    /// The places of the key, in the order of the configuration; at least one.
    public let replicas: [KeyReplica]
    /// The only place; nil for a key with several places.
    let only: KeyReplica?
    let mode: VerificationMode
    let badSignatures: Counter
    /// Nil for a key with one place.
    let failovers: Counter?
    let audit: SigningAudit?
    let logger = Logger(label: "privyseal.keys")
    /// The names of the states that were last recorded in the audit log: that of the key, and those of its places.
    let recorded: Mutex<[String]?>

    /// Whether a new configuration is rejected unless the key signs: a new key, a key that becomes the active one, or a
    /// key that signs now and keeps no connection with which it signs.
    public let mustSign: Bool

    /// - Parameters:
    ///   - connections: one for each place of the key; nil for a URI that no backend serves.
    ///   - former: the handle of the same key in the previous ring. The new one takes over the status of each place with
    ///     the same connection.
    init(
        _ settings: KeySettings, issuerID: String, isActive: Bool, mode: VerificationMode,
        connections: [BackendConnection?], after former: KeyHandle? = nil, audit: SigningAudit? = nil
    ) {
        self.audit = audit
        self.settings = settings
        self.issuerID = issuerID
        isConfiguredActive = isActive
        life = audit?.keyStates.account(issuerID)
        self.mode = mode
        replicas = zip(settings.uris, zip(settings.names, connections)).map { uri, place in
            let known = former?.replicas.first { $0.uri == uri && $0.connection === place.1 }
            return KeyReplica(uri, name: place.0, connection: place.1, after: known)
        }
        only = replicas.count == 1 ? replicas[0] : nil
        let keepsSigning = replicas.contains { $0.state.canSign }
        mustSign =
            former.map { (isActive && !$0.isConfiguredActive) || (!keepsSigning && $0.state.canSign) } ?? true
        let dimensions = [("key_id", settings.keyID)]
        badSignatures = Counter(label: "privyseal_verification_failures_total", dimensions: dimensions)
        // Export the counters as 0, so that alerts can see their first increment.
        badSignatures.increment(by: 0)
        failovers =
            only == nil ? Counter(label: "privyseal_key_failovers_total", dimensions: dimensions) : nil
        failovers?.increment(by: 0)
        let isKept = replicas.contains { $0.openKey != nil }
        recorded = Mutex(isKept ? former?.recorded.withLock { $0 } : nil)
    }

    // MARK: Status

    /// Whether the key signs requests that name no key.
    public var isActive: Bool {
        guard let life, let known = life.key(settings.keyID) else { return isConfiguredActive }
        return known.state == .active
    }

    /// The lifecycle state; nil without a register.
    public var lifeState: KeyLifecycleState? { life?.key(settings.keyID)?.state }

    /// Whether the open key is compromised under any ID.
    var isCompromised: Bool {
        guard let audit, let fingerprint else { return false }
        return audit.keyStates.isCompromised(fingerprint)
    }

    /// Whether the configuration says which key it is.
    var isPinned: Bool { settings.pinned != nil || settings.publicKey != nil }

    /// Whether the register has another fingerprint for the key ID of the open key, which is not pinned.
    var isAnother: Bool {
        guard !isPinned, let audit, let fingerprint else { return false }
        return audit.keyStates.fingerprint(of: settings.keyID).map { $0 != fingerprint } ?? false
    }

    /// Whether a signature of the key proves anything, see `KeyStates.isTrustworthy`. True without an audit log.
    public var isTrustworthy: Bool {
        guard let audit else { return true }
        return audit.keyStates.isTrustworthy(settings.keyID, fingerprint)
    }

    /// Of a key with several places: it can sign if one place can, and it is degraded unless all are ready.
    public var state: KeyState {
        if let only { return only.state }
        let states = replicas.map { (name: $0.name, state: $0.state) }
        let complaints = states.compactMap { place in
            place.state.reason.map { "At \(place.name), the key is \(place.state.name): \($0)" }
        }
        if states.contains(where: \.state.canSign) {
            return complaints.isEmpty ? .ready : .degraded(complaints.joined(separator: " "))
        }
        if states.contains(where: \.state.isDown) { return .down(.unavailable(complaints.joined(separator: " "))) }
        // A login that was refused comes first: a restart would try the PIN again.
        let errors = states.compactMap { place in
            if case .refused(let error) = place.state { error } else { nil }
        }
        return .refused(errors.first(where: \.concernsLogin) ?? errors.first ?? .closed)
    }

    /// The open key at the first place that can sign, or else at the first open place.
    private var openKey: OpenKey? {
        if let only { return only.openKey }
        return (replicas.first { $0.isUsable } ?? replicas.first { $0.openKey != nil })?.openKey
    }

    /// Nil while the key is not open.
    public var publicKey: P256.Signing.PublicKey? { openKey?.key.publicKey }
    var signsInCaller: Bool { openKey?.key.signsInCaller ?? false }
    public var custody: KeyCustody? { openKey?.key.custody }
    public var fingerprint: PublicKeyFingerprint? { openKey?.publicKeyFingerprint }

    /// Whether there was a verification failure.
    package var hasMadeBadSignature: Bool { replicas.contains { $0.hasMadeBadSignature } }

    /// How long ago the last proof was signed; nil if it failed at every place or there is none.
    package var proofAge: Duration? { replicas.compactMap(\.proofAge).min() }

    /// Whether the monitor's proofs decide whether the key can sign, and none has ended yet.
    var isWaitingForProof: Bool {
        var isProving = false
        for replica in replicas {
            guard replica.isProving else {
                if replica.isUsable { return false }
                continue
            }
            isProving = true
        }
        return isProving
    }

    // MARK: Comparison

    /// Whether it is this key on these connections.
    func isSame(as other: KeyHandle) -> Bool {
        settings.isSameKey(as: other.settings) && replicas.count == other.replicas.count
            && zip(replicas, other.replicas).allSatisfy { $0.uri == $1.uri && $0.connection === $1.connection }
    }

    /// Whether it is this key, with at least one of these places, on its connection or on one with the same locator and
    /// settings.
    func precedes(_ settings: KeySettings, in connections: [BackendConnection?]) -> Bool {
        guard self.settings.isSameKey(as: settings) else { return false }
        return zip(settings.uris, connections).contains { uri, connection in
            replicas.contains { $0.precedes(uri, in: connection) }
        }
    }

    // MARK: Audit log

    /// Whether the audit log has a state of the key.
    var isRecorded: Bool { recorded.withLock { $0 != nil } }

    func event(of state: KeyState) -> AuditEvent { event(state: state.name, reason: state.reason) }

    /// - Parameter replica: the place that the event is about; nil for the place that signs.
    func event(state: String, reason: String? = nil, at replica: KeyReplica? = nil) -> AuditEvent {
        let openKey = openKey
        return .key(
            keyID: settings.keyID, fingerprint: openKey?.fingerprint, state: state, reason: reason,
            tokenSerial: replica.map(\.tokenSerial) ?? openKey?.key.tokenSerial)
    }
}

extension KeySettings {
    /// A name for each place: the URI without its query, unless two places would then have the same name.
    fileprivate var names: [String] {
        let full = uris.map(\.description)
        let short = full.map { String($0.prefix { $0 != "?" }) }
        return Set(short).count == short.count ? short : full
    }
}
