public import AuditKit
import AuditLog
public import Signing
public import SigningKit
import StrictJSON
import Synchronization

/// The key states of the register in memory, and the resulting states for requests.
///
/// The configuration declares keys, and the register holds their states. The cache adopts a declared key without a
/// state. In an account without any state, the configured active key becomes active and the others retiring. A key that
/// is declared later becomes staged.
public final class KeyStateCache: KeyStates {
    fileprivate struct State {
        var records: [String: KeyLifecycleRecord] = [:]
        var proposals: [KeyProposal] = []
        var jobs: [ProvisioningJob] = []
        /// The open activations of a fleet, its fenced gateways, and the PINs that tokens refused from its gateways.
        var activations: [FleetActivation] = []
        var fenced: [FencedGateway] = []
        var refusedPINs: [RefusedPIN] = []
        /// The values of all registers by name, as they were loaded or written, and the size of the log then.
        var values: [String: [UInt8]] = [:]
        var size = 0
        /// The earliest time of effect among the changes that requests do not see yet.
        var shownBefore: Timestamp?
        var accounts: [AccountSettings] = []
        /// The accounts of the first configuration, until the register is loaded. A key that a reload adds before that is
        /// staged.
        var firstAccounts: [AccountSettings]?
        var persons = ConfiguredPersons([])
        var served: [String: AccountKeys] = [:]
        /// The stops in effect. Each order has its own, and no order ends the stop of another.
        var stops: [KeyStop] = []
        /// The stops in effect whose orders wait to be recorded.
        var unrecorded: [KeyStop] = []
        var deadlineOffsets = DeadlineOffsets()
        /// The fingerprints of keys that are compromised or destroyed.
        var lost: Set<PublicKeyFingerprint> = []
        /// The fingerprints of keys that are compromised, also by a stop that is not recorded yet.
        var compromised: Set<PublicKeyFingerprint> = []
        var isLoaded = false
    }

    private let state = Mutex(State())
    /// The clock by which changes take effect; nil for a gateway that belongs to no fleet.
    let fleetClock: FleetClock?

    /// - Parameter isInFleet: whether the register is that of a fleet.
    public init(isInFleet: Bool = false) { fleetClock = isInFleet ? FleetClock() : nil }

    // MARK: Queries

    public func account(_ issuerID: String) -> AccountKeys { state.withLock { $0.account(issuerID) } }

    /// The records by key ID, including adopted keys that are not recorded yet.
    public var records: [String: KeyLifecycleRecord] { state.withLock { $0.records } }
    var proposals: [KeyProposal] { state.withLock { $0.proposals } }
    var jobs: [ProvisioningJob] { state.withLock { $0.jobs } }
    var activations: [FleetActivation] { state.withLock { $0.activations } }
    var fencedGateways: [FencedGateway] { state.withLock { $0.fenced } }
    var refusedPINs: [RefusedPIN] { state.withLock { $0.refusedPINs } }
    /// The number of entries of the log with the loaded registers; 0 for a gateway that belongs to no fleet.
    var size: Int { state.withLock { $0.size } }
    /// The values of all registers by name.
    var values: [String: [UInt8]] { state.withLock { $0.values } }
    var accounts: [AccountSettings] { state.withLock { $0.accounts } }

    /// Whether the account has dual control. If it is no longer configured, the setting of any other account counts.
    func hasDualControl(_ issuerID: String) -> Bool { counted(issuerID).contains(where: \.hasDualControl) }

    /// Whether `operator` counts as an administrator in the account.
    func countsOperator(_ issuerID: String) -> Bool {
        counted(issuerID).allSatisfy { !$0.hasDualControl || $0.countsOperator }
    }

    private func counted(_ issuerID: String) -> [AccountSettings] {
        let accounts = accounts
        let own = accounts.filter { $0.issuerID.hasSameBytes(as: issuerID) }
        return own.isEmpty ? accounts : own
    }

    /// Whether signatures of the key can be trusted: no other person may have made them. False without a record, or if
    /// any record with this fingerprint, in any account, is compromised or destroyed.
    public func isTrustworthy(_ keyID: String, _ fingerprint: PublicKeyFingerprint?) -> Bool {
        state.withLock { state in
            guard let record = state.records[keyID], !record.isUntrusted,
                !state.stops.contains(where: { $0.order.keyID == keyID && $0.state == .compromised })
            else { return false }
            return !(fingerprint.map(state.lost.contains) ?? false)
        }
    }

    public func isCompromised(_ fingerprint: PublicKeyFingerprint) -> Bool {
        state.withLock { $0.compromised.contains(fingerprint) }
    }

    public func fingerprint(of keyID: String) -> PublicKeyFingerprint? {
        state.withLock { $0.records[keyID]?.fingerprint }
    }

    /// The keys that are being stopped, and the most severe stop of each.
    var held: [String: KeyLifecycleState] { state.withLock { $0.held } }

    /// The stops whose orders wait to be recorded, in the order of their arrival.
    var unrecordedStops: [KeyStop] { state.withLock { $0.unrecorded } }

    /// Whether the register is loaded. It is not until the audit log has been opened.
    var isLoaded: Bool { state.withLock { $0.isLoaded } }

    // MARK: Deadlines

    /// Call it before the transaction that records the deadlines.
    ///
    /// - Parameter offset: `ClockMonitor.stepped`, read when the deadlines were set.
    func noteDeadlines(_ records: [KeyLifecycleRecord], _ proposals: [KeyProposal] = [], at offset: Int64) {
        state.withLock { state in
            // A deadline that an earlier process set has no offset, even if its record is written again.
            let changed = records.filter { state.records[$0.keyID]?.retireAt != $0.retireAt }
            let added = proposals.filter { proposal in !state.proposals.contains { $0.id == proposal.id } }
            state.deadlineOffsets.note(changed, added, at: offset)
        }
    }

    /// When a key retires that is retiring, or was before it was suspended; nil if it has no such time.
    func deadline(of record: KeyLifecycleRecord) -> Deadline? {
        guard record.state == .retiring || record.suspendedFrom == .retiring else { return nil }
        return state.withLock { $0.deadlineOffsets.deadline(of: record) }
    }

    func deadline(of proposal: KeyProposal) -> Deadline {
        state.withLock { $0.deadlineOffsets.deadline(of: proposal) }
    }

    // MARK: Stops

    /// Stops the key from the next request on.
    func begin(_ stop: KeyStop) {
        state.withLock { state in
            state.stops.append(stop)
            state.publish(fleetClock)
        }
    }

    /// Ends stops. A key without further stops may sign again if the register allows it.
    func end(_ ended: [KeyStop]) {
        state.withLock { state in
            state.stops.removeAll { stop in ended.contains { $0 === stop } }
            state.unrecorded.removeAll { stop in ended.contains { $0 === stop } }
            state.publish(fleetClock)
        }
    }

    /// Keeps the stop until its order can be recorded, or ends it: if the same order waits already, or beyond the limit.
    ///
    /// - Returns: false beyond the limit.
    func keep(_ stop: KeyStop) -> Bool {
        state.withLock { state in
            let similar = state.unrecorded.filter {
                $0.order.keyID == stop.order.keyID && $0.order.action == stop.order.action
            }
            let isRepeated = similar.contains(where: stop.isSame)
            if !isRepeated, similar.count < KeyStop.limit {
                state.unrecorded.append(stop)
                return true
            }
            state.stops.removeAll { $0 === stop }
            state.publish(fleetClock)
            return isRepeated
        }
    }

    // MARK: Sources

    /// Loads the registers, see `AuditLog.RegisterLoading`.
    public func load(_ registers: [String: AuditRegister], time: Timestamp) throws(AuditStoreError) {
        do throws(JSONReadError) { try load(registers, at: time) } catch {
            throw .damaged("The register of keys cannot be read: \(error)")
        }
    }

    /// - Parameter size: of the log that has these registers. Older ones than those that are loaded are ignored.
    func load(_ registers: [String: AuditRegister], size: Int = 0, at time: Timestamp) throws(JSONReadError) {
        var (records, proposals, jobs) = ([String: KeyLifecycleRecord](), [KeyProposal](), [ProvisioningJob]())
        var (activations, fenced, refusedPINs) = ([FleetActivation](), [FencedGateway](), [RefusedPIN]())
        for register in registers.values where RegisterName.isKnown(register.name) {
            let root: JSONValue
            do throws(JSONSyntaxError) { root = try JSONDocument(parsing: register.value).root } catch {
                throw JSONReadError(.invalid("is not JSON"), at: register.name)
            }
            do throws(JSONReadError) {
                switch register.name {
                case RegisterName.proposals: proposals += try root.decode([KeyProposal].self)
                case let name where RegisterName.number(of: name) != nil:
                    guard root.kind != .null else { continue }
                    var proposal = try root.decode(KeyProposal.self)
                    proposal.registerNumber = RegisterName.number(of: name)
                    proposals.append(proposal)
                case RegisterName.jobs: jobs = try root.decode()
                case RegisterName.activations: activations = try root.decode()
                case RegisterName.fenced: fenced = try root.decode()
                case RegisterName.refusedPINs: refusedPINs = try root.decode()
                case RegisterName.joined: _ = try root.decode([String: String].self)
                default:
                    var record = try root.decode(KeyLifecycleRecord.self)
                    record.takeCompromiseFromHistory()
                    records[record.keyID] = record
                }
            } catch {
                throw error.inside(register.name)
            }
        }
        proposals.sort { ($0.proposed, $0.id) < ($1.proposed, $1.id) }
        state.withLock { state in
            guard size >= state.size else { return }
            // The configuration that showed names and proofs may be gone, and the attempt to record them may have failed.
            for index in proposals.indices { proposals[index].keepIdentities(of: state.proposals) }
            for index in jobs.indices { jobs[index].keepIdentities(of: state.jobs) }
            (state.records, state.proposals, state.jobs) = (records, proposals, jobs)
            (state.activations, state.fenced, state.refusedPINs) = (activations, fenced, refusedPINs)
            (state.values, state.size) = (registers.mapValues(\.value), size)
            state.isLoaded = true
            state.addIdentities()
            if let first = state.firstAccounts.take() {
                state.adopt(state.accounts.withoutLaterKeys(than: first), at: time)
            }
            state.adopt(state.accounts, at: time)
            state.deadlineOffsets.keep(Array(state.records.values), state.proposals)
            state.publish(fleetClock)
        }
    }

    /// The times at which changes in the register take effect, if they are still to come.
    var pendingEffects: [(issuerID: String, time: Timestamp)] {
        guard let fleetClock else { return [] }
        return records.values.compactMap { record in record.effectiveAt.map { (record.issuerID, $0) } }
            .filter { fleetClock.remaining(until: $0.1) > .zero }
    }

    /// Whether requests still get the states before a change.
    var showsEarlierStates: Bool { state.withLock { $0.shownBefore != nil } }

    /// Whether requests still get the states before a change that has been in effect for longer than `drainTimeout`.
    var hasOverdueEffect: Bool {
        let shown = state.withLock { $0.shownBefore }
        guard let fleetClock, let shown, let now = fleetClock.now else { return false }
        return now.milliseconds - shown.milliseconds > FleetClock.drainTimeout.components.seconds * 1000
    }

    /// Updates the states for requests after a change has taken effect.
    func publishEffects() { state.withLock { $0.publish(fleetClock) } }

    /// Sets the accounts and clients of the configuration.
    public func declare(_ accounts: [AccountSettings], clients: [ClientSettings] = [], at time: Timestamp) {
        let persons = ConfiguredPersons(clients)
        state.withLock { state in
            (state.accounts, state.persons) = (accounts, persons)
            guard state.isLoaded else {
                state.firstAccounts = state.firstAccounts ?? accounts
                return
            }
            state.addIdentities()
            state.adopt(accounts, at: time)
            state.publish(fleetClock)
        }
    }

    /// Call it when the register has these values.
    ///
    /// - Parameter values: of the changed registers, by name.
    func set(
        _ records: [KeyLifecycleRecord] = [], proposals: [KeyProposal]? = nil, jobs: [ProvisioningJob]? = nil,
        values: [String: [UInt8]] = [:]
    ) {
        state.withLock { state in
            state.values.merge(values) { $1 }
            for record in records { state.records[record.keyID] = record }
            if let proposals { state.proposals = proposals }
            if let jobs { state.jobs = jobs }
            // The lists may be older than the current configuration.
            state.addIdentities()
            state.deadlineOffsets.keep(Array(state.records.values), state.proposals)
            state.publish(fleetClock)
        }
    }
}

extension KeyStateCache.State {
    var held: [String: KeyLifecycleState] {
        Dictionary(stops.map { ($0.order.keyID, $0.state) }) { first, second in first.stopped(as: second) }
    }

    /// A client with a new name or new proofs is the same person. Only one configuration shows each such change, so
    /// open proposals and jobs store it.
    fileprivate mutating func addIdentities() {
        for index in proposals.indices { proposals[index].addIdentities(persons) }
        for index in jobs.indices { jobs[index].addIdentities(persons) }
    }

    fileprivate mutating func adopt(_ accounts: [AccountSettings], at time: Timestamp) {
        for account in accounts {
            let isNew = !records.values.contains { $0.issuerID == account.issuerID }
            for key in account.keys where records[key.keyID] == nil {
                let state: KeyLifecycleState =
                    isNew ? key.keyID == account.activeKeyID ? .active : .retiring : .staged
                records[key.keyID] = KeyLifecycleRecord(
                    adopting: key.keyID, of: account.issuerID, as: state, at: time, isBegin: isNew)
            }
        }
    }

    fileprivate mutating func account(_ issuerID: String) -> AccountKeys {
        if let known = served[issuerID] { return known }
        let account = AccountKeys()
        served[issuerID] = account
        return account
    }

    /// Updates the states for requests, including those of accounts that a reload has removed: requests that began
    /// before the reload still use them.
    ///
    /// - Parameter clock: until a change takes effect, the key has its earlier state.
    fileprivate mutating func publish(_ clock: FleetClock?) {
        lost = Set(records.values.filter(\.isUntrusted).compactMap(\.fingerprint))
        let held = held
        let stoppedAsCompromised = stops.filter { $0.state == .compromised }.compactMap(\.adopted)
        compromised = Set(
            (records.values.filter { $0.isCompromised || held[$0.keyID] == .compromised } + stoppedAsCompromised)
                .compactMap(\.fingerprint))
        shownBefore = nil
        for issuerID in Set(accounts.map(\.issuerID)).union(served.keys) {
            let own = records.values.filter { $0.issuerID == issuerID }
            var changesAt: ContinuousClock.Instant?
            let keys = own.map { record in
                let current = record.state(by: clock)
                if current != record.state, let clock, let effect = record.effectiveAt {
                    changesAt = .now + clock.remaining(until: effect)
                    shownBefore = [shownBefore, effect].compactMap(\.self).min()
                }
                let state = current.stopped(as: held[record.keyID])
                return (record.keyID, AccountKeys.Key(state: state, deadline: deadlineOffsets.deadline(of: record)))
            }
            let account = account(issuerID)
            account.set(
                active: own.first { $0.state(by: clock) == .active && held[$0.keyID] == nil }?.keyID,
                keys: Dictionary(keys) { first, _ in first }, changesAt: changesAt)
        }
    }
}

extension [AccountSettings] {
    /// The accounts without the keys that an earlier configuration did not have. An account whose active key is another one
    /// now, or is new, keeps all: a reload corrected it.
    fileprivate func withoutLaterKeys(than first: [AccountSettings]) -> [AccountSettings] {
        map { account in
            guard let before = first.first(where: { $0.issuerID == account.issuerID }),
                before.activeKeyID == account.activeKeyID
            else { return account }
            var account = account
            account.keys.removeAll { key in !before.keys.contains { $0.keyID == key.keyID } }
            return account
        }
    }
}

extension KeyLifecycleRecord {
    /// The record of a configured key that the register does not have.
    ///
    /// - Parameter isBegin: whether the register had no key of the account.
    init(
        adopting keyID: String, of issuerID: String, as state: KeyLifecycleState, at time: Timestamp,
        isBegin: Bool = false
    ) {
        let change = KeyLifecycleChange(
            time: time, action: .adopt, from: nil, to: state, actor: KeyLifecycleService.gatewayName,
            reason: isBegin ? "It was configured when the register began." : "The configuration names it since.")
        self.init(
            issuerID: issuerID, keyID: keyID, state: state, since: time, provenance: .unknown, history: [change])
    }

    /// The state that applies now: before the last change takes effect, the one before it.
    fileprivate func state(by clock: FleetClock?) -> KeyLifecycleState {
        guard let clock, let effectiveAt, clock.remaining(until: effectiveAt) > .zero else { return state }
        return effectiveFrom ?? state
    }
}

extension KeyLifecycleState {
    /// The state of a key that is being stopped: the more severe of the two.
    ///
    /// - Parameter held: `suspended` or `compromised`; nil without a stop.
    func stopped(as held: KeyLifecycleState?) -> KeyLifecycleState {
        switch (held, self) {
        case (nil, _), (.suspended, .compromised), (.suspended, .retired), (.suspended, .destroyed): self
        case (let held?, _): held
        }
    }
}
