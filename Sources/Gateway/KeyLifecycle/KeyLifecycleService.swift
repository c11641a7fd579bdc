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
    /// The issuer IDs of accounts with an activation in progress.
    private let activating = Mutex<Set<String>>([])
    private let signal = AsyncSignal()
    /// Whether the register may be newer than `stateCache`.
    private let needsReload = Mutex(false)
    let unrecordedStops = UnrecordedStops()
    /// When the gateway looks again at the jobs that were reported as done.
    let reportedJobs = ReportedJobs()
    let activationMonitors = ActivationMonitors()
    let reversals = Counter(label: "privyseal_key_reversals_total")

    /// The actor of changes that the gateway itself makes.
    static let gatewayName = "gateway"

    /// Whether this process serves requests, so that it can record later what it cannot record now.
    let isServing: Bool

    /// - Parameter keyStates: the states that `audit` loads when it is opened.
    public init(_ gateway: SnapshotHolder, audit: AuditLog, keyStates: KeyStateCache, isServing: Bool = true) {
        self.isServing = isServing
        self.gateway = gateway
        self.audit = audit
        stateCache = keyStates
        // Export the counter as 0, so that alerts can see its first increment.
        reversals.increment(by: 0)
    }

    var now: Timestamp { audit.time() }

    // MARK: Overview

    public func overview() -> KeyLifecycleOverview {
        let handles = Dictionary(
            gateway.current.ring.handles.map { ($0.settings.keyID, $0) }, uniquingKeysWith: { first, _ in first })
        return KeyLifecycleOverview(stateCache, handles: handles, at: now) { [clock = audit.clock] in clock.isOver($0) }
    }

    public func overview(of keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleOverview.Key {
        try requireLoaded()
        for account in overview().accounts {
            if let key = account.keys.first(where: { $0.life.keyID == keyID }) { return key }
        }
        throw KeyLifecycleRefusal(
            .unknown, "There is no key \(keyID). privyseal keys states lists the keys.")
    }

    // MARK: Changes

    public func change(
        _ order: KeyChangeOrder, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        try Self.require(reason: order.reason)
        if order.action == .suspend || order.action == .compromise { return try await stop(order, by: actor.name) }
        if order.action == .activate {
            return try await exclusively(order.keyID) { () throws(KeyLifecycleRefusal) in
                try await proveAndDecide(order, by: actor)
            }
        }
        return try await proveAndDecide(order, by: actor)
    }

    private func proveAndDecide(
        _ order: KeyChangeOrder, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        try requireLoaded()
        let issuerID = try rules.record(order.keyID).issuerID
        let proof = order.action.requiresDualControl && hasDualControl(issuerID) ? nil : try await proof(for: order)
        return try await inTurn { () throws(KeyLifecycleRefusal) in try await decide(order, by: actor, with: proof) }
    }

    func decide(
        _ order: KeyChangeOrder, by actor: Administrator, with proof: FreshPossessionProof? = nil
    ) async throws(KeyLifecycleRefusal) -> KeyChangeAnswer {
        let record = try rules.record(order.keyID)
        if order.action.requiresDualControl, hasDualControl(record.issuerID) {
            try require(actor, inAccount: record.issuerID)
            // Refuse it now, rather than after the approval.
            try rules.check(order)
            return .proposed(
                try await propose(
                    order.action, issuerID: record.issuerID, keyID: order.keyID, details: order.details,
                    reason: order.reason, by: actor))
        }
        return .done(try await perform(order, ChangeContext(actor: actor.name, reason: order.reason, proof: proof)))
    }

    /// Carries out an ordered or approved change. It checks the rules at the time of the change.
    func perform(_ order: KeyChangeOrder, _ context: ChangeContext) async throws(KeyLifecycleRefusal)
        -> [KeyLifecycleRecord]
    {
        let rules = rules
        try rules.check(order)
        switch order.action {
        case .activate: return try await activate(order, context)
        case .retire:
            return try await record([change(try rules.retirement(order.keyID), to: .retired, .retire, context)])
        case .suspend:
            var record = try rules.suspension(order.keyID)
            record.suspendedFrom = record.state
            return try await settle(change(record, to: .suspended, .suspend, context))
        case .resume:
            let (record, state) = try rules.resumption(order.keyID)
            var resumed = change(record, to: state, .resume, context)
            resumed.suspendedFrom = nil
            if state == .active { try require(context.proof, of: order.keyID) }
            return try await self.record([resumed])
        case .compromise:
            return try await settle(change(try rules.compromise(order.keyID), to: .compromised, .compromise, context))
        case .restore:
            let (record, state) = try rules.restoration(order.keyID)
            var restored = change(record, to: state, .restore, context)
            if state == .suspended { restored.suspendedFrom = .staged }
            restored.restoredAt = restored.since
            return try await self.record([restored], fulfilling: context.fulfils)
        case .adopt, .import, .generate, .expire, .revert, .destroy:
            throw KeyLifecycleRefusal("\(order.action.rawValue) cannot be requested here.")
        }
    }

    // MARK: Helpers

    /// The persons and the reason of a change.
    struct ChangeContext {
        var actor: String
        var approver: String?
        var reason: String
        /// The proposal that the change closes.
        var fulfils: KeyProposal?
        /// The proof that the key signs, if the change needs one.
        var proof: FreshPossessionProof?
    }

    /// The rules for the current state. A record without a fingerprint gets that of the open key.
    var rules: KeyLifecycleRules {
        var records = stateCache.records
        let overdue = records.values.filter { stateCache.deadline(of: $0).map(audit.clock.isOver) == true }.map(\.keyID)
        for handle in gateway.current.ring.handles where records[handle.settings.keyID]?.fingerprint == nil {
            records[handle.settings.keyID]?.fingerprint = handle.fingerprint
        }
        return KeyLifecycleRules(records: records, jobs: stateCache.jobs, overdue: Set(overdue))
    }

    func account(_ issuerID: String) -> AccountSettings? {
        stateCache.accounts.first { $0.issuerID.hasSameBytes(as: issuerID) }
    }

    func hasDualControl(_ issuerID: String) -> Bool { stateCache.hasDualControl(issuerID) }

    func change(
        _ record: KeyLifecycleRecord, to state: KeyLifecycleState, _ action: KeyLifecycleAction,
        _ context: ChangeContext,
        at time: Timestamp? = nil, retireAt: Timestamp? = nil, evidence: [String: String] = [:]
    ) -> KeyLifecycleRecord {
        let time = time ?? now
        var changed = record
        changed.fingerprint = record.fingerprint ?? handle(record.keyID)?.fingerprint
        changed.state = state
        changed.since = time
        if action == .compromise { changed.noteCompromise(at: time) }
        // A suspended key keeps its `retireAt` for `resume`.
        if state != .suspended { changed.retireAt = retireAt ?? (state == .retiring ? record.retireAt : nil) }
        changed.history.append(
            KeyLifecycleChange(
                time: time, action: action, from: record.state, to: state, actor: context.actor,
                approver: context.approver,
                reason: context.reason, retireAt: retireAt, evidence: evidence))
        return changed
    }

    private func settle(_ changed: KeyLifecycleRecord) async throws(KeyLifecycleRefusal) -> [KeyLifecycleRecord] {
        // Wait for the entries of requests in progress, so that none in the log is later than the stop. Only the active
        // key has requests that name no key.
        if changed.history.last?.from == .active {
            _ = await stateCache.account(changed.issuerID).drained(timeout: Self.stopTimeout)
        }
        var stopped = changed
        stopped.since = now
        if stopped.state == .compromised, stopped.compromisedAt == changed.since {
            stopped.compromisedAt = stopped.since
        }
        if let last = stopped.history.indices.last { stopped.history[last].time = stopped.since }
        return try await record([stopped])
    }

    private static let stopTimeout = Duration.seconds(1)

    /// Records the last change of each key and the registers in one transaction, and then applies them.
    ///
    /// - Parameter time: the time of the entries; nil for the time of the last change.
    func record(
        _ changed: [KeyLifecycleRecord], at time: Timestamp? = nil, fulfilling proposal: KeyProposal? = nil
    ) async throws(KeyLifecycleRefusal) -> [KeyLifecycleRecord] {
        let changed = changed.map { $0.limited() }
        stateCache.noteDeadlines(changed, at: audit.clock.stepped)
        var registrations: [Registration] = changed.map {
            ($0.lifecycleEntry, RegisterName.key($0.keyID), JSONText.encode($0))
        }
        // Close the proposal in the same transaction: an approval is valid once.
        if let proposal {
            registrations.append(
                registration(proposal, .approved, by: changed.first?.history.last?.approver ?? "", isOpen: false))
        }
        try await register(registrations, at: time ?? changed.last?.history.last?.time)
        stateCache.set(changed, proposals: proposal.map { used in stateCache.proposals.filter { $0.id != used.id } })
        for record in changed {
            logger.notice(
                "The key is \(record.state.rawValue)",
                metadata: ["keyId": "\(record.keyID)", "action": "\(record.history.last?.action.rawValue ?? "")"])
        }
        signal.signal()
        return changed
    }

    /// An audit entry, and the register that it changes.
    typealias Registration = (record: KeyLifecycleEntry, name: String, value: [UInt8])

    func register(
        _ records: [Registration], at time: Timestamp? = nil
    ) async throws(KeyLifecycleRefusal) {
        guard !needsReload.withLock({ $0 }) else {
            // A value from the older state in memory would overwrite the register.
            throw KeyLifecycleRefusal(
                .unrecorded,
                "The register may or may not have the last change; the gateway checks when it can write the audit log.")
        }
        for record in records { try Self.requireReadable(record.name, record.value) }
        do throws(AuditError) { try await audit.register(records, at: time ?? now) } catch {
            // The commit may have succeeded although it reported an error.
            needsReload.withLock { $0 = true }
            throw Self.unrecorded(error)
        }
    }

    private static func unrecorded(_ error: AuditError) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(.unrecorded, "The change could not be recorded, so the register is unchanged. \(error)")
    }

    /// Throws if the value cannot be read back, because the next start would fail.
    private static func requireReadable(_ name: String, _ value: [UInt8]) throws(KeyLifecycleRefusal) {
        guard value.count <= KeyLifecycleLimits.register else {
            throw KeyLifecycleRefusal(
                "The register \(name) would have \(value.count) bytes; at most \(KeyLifecycleLimits.register) are allowed. Nothing has "
                    + "changed.")
        }
        do throws(JSONReadError) {
            try KeyStateCache().load(
                [name: AuditRegister(name: name, value: value, entry: 0)], at: Timestamp(milliseconds: 0))
        } catch {
            throw KeyLifecycleRefusal("The register \(name) could not be read again: \(error) Nothing has changed.")
        }
    }

    /// Runs one change at a time. `body` must not call a token, because a waiting stop would then wait for the token.
    /// Only `drained` may wait in `body` for requests in progress, with a timeout.
    ///
    /// - Parameter isUrgent: whether it goes before other waiting changes.
    func inTurn<Value>(
        isUrgent: Bool = false, _ body: () async throws(KeyLifecycleRefusal) -> Value
    ) async throws(KeyLifecycleRefusal) -> Value {
        try await mutex.pass(isUrgent: isUrgent) { () async -> Result<Value, KeyLifecycleRefusal> in
            catchUp()
            do throws(KeyLifecycleRefusal) {
                try requireLoaded()
                // Each change must begin from a recorded state.
                try await recordAdoptions()
                try await recordStops()
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Throws until the register is loaded: without it, "there is no such key" would be wrong.
    func requireLoaded() throws(KeyLifecycleRefusal) {
        guard !stateCache.isLoaded else { return }
        throw KeyLifecycleRefusal(
            .unrecorded,
            "The states of keys are not known yet, because the audit log has not been opened. See privyseal status, and try again."
        )
    }

    /// Reloads the state from the register, because a commit may have succeeded although it reported an error.
    private func catchUp() {
        guard audit.state.isWritable, needsReload.withLock({ $0 }) else { return }
        do throws(JSONReadError) {
            try stateCache.load(audit.registers, at: now)
            needsReload.withLock { $0 = false }
        } catch {
            logger.critical("The register of keys cannot be read: \(error)")
        }
    }

    /// Refuses a second activation in the account: two at once would each retire the same key.
    func exclusively<Value>(
        _ keyID: String, _ body: () async throws(KeyLifecycleRefusal) -> Value
    ) async throws(KeyLifecycleRefusal) -> Value {
        try requireLoaded()
        let issuerID = try rules.record(keyID).issuerID
        guard activating.withLock({ $0.insert(issuerID).inserted }) else {
            throw KeyLifecycleRefusal("Another activation in this account is in progress. Look at its result first.")
        }
        defer { _ = activating.withLock { $0.remove(issuerID) } }
        return try await body()
    }

    static func require(reason: String) throws(KeyLifecycleRefusal) {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw KeyLifecycleRefusal("Give a reason that explains the change to a reader of the audit log in a year.")
        }
        guard reason.utf8.count <= KeyLifecycleLimits.reason else {
            throw KeyLifecycleRefusal("The reason is longer than \(KeyLifecycleLimits.reason) bytes.")
        }
        try KeyLifecycleLimits.checkCharacters(reason, "reason")
    }

    // MARK: Running

    /// Records adopted keys, retires keys at their `retireAt`, and closes expired proposals.
    public func run() async throws {
        // No task waits for this one: a token that hangs must not delay retirements or the last stops.
        let looks = Task { [weak self] in
            while !Task.isCancelled {
                await self?.concludeReports()
                try? await Task.sleep(for: Self.lookInterval)
            }
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.processDeadlines()
                await self.signal.wait(atMost: self.untilNext)
            }
        }
        looks.cancel()
        activationMonitors.end()
        await recordLastStops()
    }

    private var untilNext: Duration {
        let deadlines = stateCache.records.values.filter { $0.state == .retiring }.compactMap(stateCache.deadline)
        guard let next = deadlines.map(audit.clock.remaining).min() else { return .seconds(1) }
        return min(.seconds(1), max(.milliseconds(5), next))
    }

    /// Call it before changes while no gateway runs.
    public func prepare() async throws(KeyLifecycleRefusal) {
        // Check the log first: the register may not be loaded.
        if case .unwritable(let error) = audit.state { throw Self.unrecorded(error) }
        try await inTurn { () throws(KeyLifecycleRefusal) in
            try await forgetExpiredProposals()
        }
    }

    /// Retires keys and closes expired proposals. The next call retries what could not be recorded.
    func processDeadlines() async {
        guard audit.state.isWritable else { return }
        _ = try? await inTurn { () throws(KeyLifecycleRefusal) in
            for record in stateCache.records.values where record.state == .retiring {
                guard let deadline = stateCache.deadline(of: record), audit.clock.isOver(deadline) else { continue }
                let context = ChangeContext(
                    actor: Self.gatewayName, reason: "The time at which it was to retire has come.")
                _ = try await self.record([change(record, to: .retired, .expire, context)])
            }
            try await forgetExpiredProposals()
        }
    }

    /// Records adopted keys that are not in the register yet.
    func recordAdoptions() async throws(KeyLifecycleRefusal) {
        let registers = audit.registers
        var adopted = stateCache.records.values
            .filter { registers[RegisterName.key($0.keyID)] == nil }
            .sorted { $0.keyID < $1.keyID }
        guard !adopted.isEmpty else { return }
        let handles = gateway.current.ring.handles
        for index in adopted.indices {
            adopted[index].fingerprint = handles.first { $0.settings.keyID == adopted[index].keyID }?.fingerprint
        }
        // Use the current time, because the adoptions are older than other entries, and entry times must ascend.
        _ = try await record(adopted, at: now)
    }
}

extension KeyChangeOrder {
    /// The details for a proposal.
    var details: [String: String] {
        var details: [String: String] = [:]
        if let retiring { details["retiring"] = retiring }
        if let overlap { details["overlap"] = "\(overlap)" }
        if let watch { details["watch"] = "\(watch)" }
        return details
    }
}

extension KeyLifecycleRecord {
    var lifecycleEntry: KeyLifecycleEntry {
        let change = history.last
        return KeyLifecycleEntry(
            .changed, action: change?.action.rawValue ?? "", issuerID: issuerID, keyID: keyID,
            actor: change?.actor ?? "", approver: change?.approver, reason: change?.reason,
            from: change?.from?.rawValue, to: state.rawValue, retireAt: retireAt,
            fingerprint: fingerprint?.description, evidence: change?.evidence ?? [:])
    }
}
