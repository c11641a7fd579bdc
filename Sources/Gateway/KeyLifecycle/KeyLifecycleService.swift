import AuditKit
public import AuditLog
import Logging
import Metrics
public import ServiceLifecycle
public import Signing
import SigningKit
import StrictJSON
import Synchronization

/// Decides, records and then applies key lifecycle changes, one at a time.
///
/// A change and its audit entry are one transaction. Only a stop is in effect before it is recorded.
public final class KeyLifecycleService: Service {
    let gateway: SnapshotHolder
    let audit: AuditLog
    let stateCache: KeyStateCache
    let logger = Logger(label: "privyseal.keys")
    let mutex = AsyncMutex()
    /// The sentences of `KeyLifecycleOverview.differences` that are in the log already.
    let loggedDifferences = Mutex<Set<String>>([])
    /// When they were last compared.
    let differencesSeen = Mutex<ContinuousClock.Instant?>(nil)
    /// The issuer IDs of accounts with an activation in progress.
    private let activating = Mutex<Set<String>>([])
    let signal = AsyncSignal()
    /// Whether the register may be newer than `stateCache`.
    let needsReload = Mutex(false)
    /// The tasks that monitor newly activated keys, by issuer ID. The next activation cancels the task of its account.
    let activationMonitors = Mutex<[String: Task<Void, Never>]>([:])
    let reversals = Counter(label: "privyseal_key_reversals_total")

    /// The actor of changes that the gateway itself makes.
    static let gatewayName = "gateway"

    /// Whether this process serves requests, so that it can record later what it cannot record now.
    let isServing: Bool

    /// The connection to the other gateways; nil for a gateway that belongs to no fleet.
    let fleet: FleetRegister?
    /// The registers at the beginning of the current turn, with the changes of the turn.
    let turnValues = Mutex<[String: [UInt8]]>([:])
    /// The times of effect for which a task waits.
    let scheduled = Mutex<Set<Timestamp>>([])
    /// The IDs of the activations whose keys this gateway is proving.
    let answering = Mutex<Set<String>>([])
    /// The origins of the gateways that are being fenced.
    let fencing = Mutex<Set<String>>([])
    /// The IDs of the activations that this gateway is recording.
    let concluding = Mutex<Set<String>>([])
    /// Whether this gateway is recording a refused PIN.
    let recordingPIN = Atomic(false)
    /// When this gateway first saw all answers to an activation, by its ID.
    let complete = Mutex<[String: ContinuousClock.Instant]>([:])
    /// Why activations that this gateway gave up failed, by their IDs.
    let failed = Mutex<[String: String]>([:])

    /// - Parameters:
    ///   - audit: the log with the registers: that of the gateway or of its fleet.
    ///   - keyStates: the states that `audit` loads when it is opened.
    public init(
        _ gateway: SnapshotHolder, audit: AuditLog, keyStates: KeyStateCache, fleet: FleetRegister? = nil,
        isServing: Bool = true
    ) {
        self.fleet = fleet
        self.isServing = isServing
        self.gateway = gateway
        self.audit = audit
        stateCache = keyStates
        // Export the counter as 0, so that alerts can see its first increment.
        reversals.increment(by: 0)
    }

    /// The log of the fleet; nil for a gateway that belongs to no fleet.
    public var fleetLog: AuditLog? { fleet == nil ? nil : audit }

    var now: Timestamp { audit.time() }

    // MARK: Overview

    public func overview() -> KeyLifecycleOverview {
        let handles = Dictionary(
            gateway.current.ring.handles.map { ($0.settings.keyID, $0) }, uniquingKeysWith: { first, _ in first })
        // `isOver` compares with the same clock.
        return KeyLifecycleOverview(stateCache, handles: handles, at: fleet?.clock.now ?? now) { isOver($0) }
    }

    public func overview(of keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleOverview.Key {
        try requireLoaded()
        guard let key = overview().key(keyID) else { throw KeyLifecycleRules.noKey(keyID) }
        return key
    }

    // MARK: Changes

    public func change(
        _ order: KeyChangeOrder, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try Self.require(reason: order.reason)
        if order.action == .suspend || order.action == .compromise {
            return try await confirmed(try await stop(order, by: actor.name))
        }
        try requireLoaded()
        await waitForEffects(inAccountOf: order.keyID)
        let needsApproval = requiresApproval(order.action, try rules.record(order.keyID).issuerID)
        let answer = try await proven(order, isNeeded: !needsApproval) { proof throws(KeyLifecycleRefusal) in
            try await decide(order, by: actor, with: proof)
        }
        return try await confirmed(answer)
    }

    /// Carries out or proposes a change.
    ///
    /// - Parameter proof: the fingerprint of the key that signed a fresh proof of possession.
    func decide(
        _ order: KeyChangeOrder, by actor: Administrator, with proof: PublicKeyFingerprint? = nil
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let issuerID = try rules.record(order.keyID).issuerID
        guard requiresApproval(order.action, issuerID) else {
            return try await perform(order, ChangeContext(actor: actor.name, reason: order.reason, proof: proof))
        }
        try require(actor, inAccount: issuerID)
        // Refuse it now, rather than after the approval.
        _ = try rules.transition(order)
        return .proposed(
            try await propose(
                order.action, issuerID: issuerID, keyID: order.keyID, details: order.details, reason: order.reason,
                by: actor))
    }

    private func requiresApproval(_ action: KeyLifecycleAction, _ issuerID: String) -> Bool {
        action.requiresDualControl && stateCache.hasDualControl(issuerID)
    }

    /// Carries out an ordered or approved change. It checks the rules at the time of the change.
    func perform(
        _ order: KeyChangeOrder, _ context: ChangeContext
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let step = try rules.transition(order)
        try requireNoPendingEffect(for: order, step.record.issuerID)
        if order.action == .activate { return try await activate(order, step, context) }
        // The key that it was to replace still signs.
        let isPending = hasPendingEffect(step.record)
        if step.record.state == .active, !isPending {
            // Wait for the entries of requests in progress, so that none in the log is later than the stop. Only the
            // active key has requests that name no key.
            _ = await stateCache.account(step.record.issuerID).drained(timeout: Self.stopTimeout)
        }
        if step.state == .active { try require(context.proof, of: order.keyID) }
        var changed = [change(step.record, to: step.state, order.action, context)]
        if isPending { restore(insteadOf: &changed, context) }
        return .done(try await record(changed, fulfilling: context.fulfils))
    }

    private static let stopTimeout = Duration.seconds(1)

    // MARK: Helpers

    func handle(_ keyID: String) -> KeyHandle? { gateway.current.ring.handles.first { $0.settings.keyID == keyID } }

    /// A random ID that is short enough to be read aloud.
    static func newID() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        var random = SystemRandomNumberGenerator()
        return String((0..<8).compactMap { _ in letters.randomElement(using: &random) })
    }

    /// The gateways of a fleet use the clock of its database, so that one whose clock is wrong ends nothing for the others.
    func isOver(_ deadline: Deadline) -> Bool {
        guard let fleet else { return audit.clock.isOver(deadline) }
        return fleet.clock.isOver(deadline.time)
    }

    /// The persons and the reason of a change.
    struct ChangeContext {
        var actor: String
        var approver: String?
        var reason: String
        /// The proposal that the change closes.
        var fulfils: KeyProposal?
        /// The fingerprint of the key that signed a fresh proof of possession, if the change needs one.
        var proof: PublicKeyFingerprint?
    }

    /// The rules for the current state. A record without a fingerprint gets that of the open key.
    var rules: KeyLifecycleRules {
        var records = stateCache.records
        let overdue = records.values.filter { stateCache.deadline(of: $0).map(isOver) == true }.map(\.keyID)
        for handle in gateway.current.ring.handles where records[handle.settings.keyID]?.fingerprint == nil {
            records[handle.settings.keyID]?.fingerprint = handle.fingerprint
        }
        return KeyLifecycleRules(records: records, jobs: stateCache.jobs, overdue: Set(overdue))
    }

    func account(_ issuerID: String) -> AccountSettings? {
        stateCache.accounts.first { $0.issuerID.hasSameBytes(as: issuerID) }
    }

    func change(
        _ record: KeyLifecycleRecord, to state: KeyLifecycleState, _ action: KeyLifecycleAction,
        _ context: ChangeContext, at time: Timestamp? = nil, retireAt: Timestamp? = nil,
        evidence: [String: String] = [:]
    ) -> KeyLifecycleRecord {
        let time = time ?? now
        var changed = record
        changed.fingerprint = record.fingerprint ?? handle(record.keyID)?.fingerprint
        changed.state = state
        changed.since = time
        if state != record.state { (changed.effectiveAt, changed.effectiveFrom) = (nil, nil) }
        if action == .compromise { changed.noteCompromise(at: time) }
        if action == .restore { changed.restoredAt = time }
        if state == .suspended {
            // It keeps its `retireAt` for `resume`.
            if record.state != .suspended { changed.suspendedFrom = action == .restore ? .staged : record.state }
        } else {
            changed.suspendedFrom = nil
            changed.retireAt = retireAt ?? (state == .retiring ? record.retireAt : nil)
        }
        changed.history.append(
            KeyLifecycleChange(
                time: time, action: action, from: record.state, to: state, actor: context.actor,
                approver: context.approver, reason: context.reason, retireAt: retireAt, evidence: evidence))
        return changed
    }

    /// Runs one change at a time. `body` must not call a token, because a waiting stop would then wait for the token.
    /// Only `drained` may wait in `body` for requests in progress, with a timeout.
    ///
    /// - Parameter isUrgent: whether it goes before other waiting changes.
    func inTurn<Value>(
        isUrgent: Bool = false, _ body: () async throws(KeyLifecycleRefusal) -> Value
    ) async throws(KeyLifecycleRefusal) -> Value {
        try await mutex.pass(isUrgent: isUrgent) { () async -> Result<Value, KeyLifecycleRefusal> in
            var attempt = 1
            while true {
                catchUp()
                turnValues.withLock { $0 = stateCache.values }
                do throws(KeyLifecycleRefusal) {
                    try requireLoaded()
                    // Each change must begin from a recorded state.
                    try await recordAdoptions()
                    try await recordIdentities()
                    try await recordStops()
                    return .success(try await body())
                } catch {
                    // Another gateway was first. Its change may allow this one or not.
                    guard error.kind == .superseded, attempt < Self.attempts else { return .failure(error) }
                    attempt += 1
                }
            }
        }.get()
    }

    /// The attempts of a change that other gateways precede.
    private static let attempts = 20

    /// Throws until the register is loaded: without it, "there is no such key" would be wrong.
    func requireLoaded() throws(KeyLifecycleRefusal) {
        if fleet?.isFenced == true {
            throw KeyLifecycleRefusal(.unrecorded, "This gateway has been fenced. Start it again if it should go on.")
        }
        guard !stateCache.isLoaded else { return }
        throw KeyLifecycleRefusal(
            .unrecorded,
            "The states of keys are not known yet, because the log that holds them has not been read. See privyseal status, and try again."
        )
    }

    /// Reloads the state from the register, because a commit may have succeeded although it reported an error.
    func catchUp() {
        guard audit.writeState.isWritable, needsReload.withLock({ $0 }) else { return }
        do throws(JSONReadError) {
            let content = audit.content
            try stateCache.load(content.registers, size: fleet == nil ? 0 : content.entryCount, at: now)
            needsReload.withLock { $0 = false }
        } catch {
            logger.critical("The register of keys cannot be read: \(error)")
        }
    }

    /// Runs a change in its turn, after the key has signed the proof that the order needs. It refuses a second
    /// activation in the account: two at once would each retire the same key.
    ///
    /// - Parameter isNeeded: whether the key signs the proof now.
    func proven(
        _ order: KeyChangeOrder, isNeeded: Bool = true,
        _ body: (PublicKeyFingerprint?) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let issuerID = order.action == .activate ? try rules.record(order.keyID).issuerID : nil
        if let issuerID, !activating.withLock({ $0.insert(issuerID).inserted }) {
            throw KeyLifecycleRefusal("Another activation in this account is in progress. Look at its result first.")
        }
        defer { if let issuerID { activating.withLock { _ = $0.remove(issuerID) } } }
        // Outside `inTurn`, because a token may hang.
        let proof = isNeeded ? try await proof(for: order) : nil
        return try await inTurn { () throws(KeyLifecycleRefusal) in try await body(proof) }
    }

    static func require(reason: String) throws(KeyLifecycleRefusal) {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw KeyLifecycleRefusal("Give a reason that explains the change to a reader of the audit log in a year.")
        }
        try KeyLifecycleLimits.check(reason, "reason", atMost: KeyLifecycleLimits.reason)
    }
}
