import AuditKit
import Logging
import Metrics
public import ServiceLifecycle
import SigningKit
import StrictJSON
import Synchronization

/// Where changes in the life of keys are decided, recorded and made to hold, in this order, one at a time.
///
/// A change is one transaction with its audit entry: what is not recorded has not happened. Stopping a key is the exception in
/// the order, and only there: it holds at once, and is recorded then.
public final class KeyOffice: Service {
    let gateway: LiveGateway
    let audit: AuditLog
    let logger = Logger(label: "privyseal.keys")
    let turnstile = Turnstile()
    /// Accounts in which an activation is under way.
    private let activating = Mutex<Set<String>>([])
    private let doorbell = Doorbell()
    /// Whether the register may hold what memory does not.
    private let isBehind = Mutex(false)
    let unrecordedStops = UnrecordedStops()
    /// Work that was reported as done, and when the gateway looks at it again.
    let reportedWork = ReportedWork()
    let watches = KeyWatches()
    let reversals = Counter(label: "privyseal_key_reversals_total")

    /// Nobody but the gateway itself wants it.
    static let gatewayName = "gateway"

    /// Whether requests are signed in this process, and what is not recorded now can be recorded later.
    let isServing: Bool

    public init(_ gateway: LiveGateway, audit: AuditLog, isServing: Bool = true) {
        self.isServing = isServing
        self.gateway = gateway
        self.audit = audit
        // From now on it is there to be watched, before anything has gone wrong.
        reversals.increment(by: 0)
    }

    var board: KeyBoard { audit.keys }
    var now: Timestamp { audit.time() }

    // MARK: What is known

    public func overview() -> KeyLifeOverview {
        let slots = Dictionary(
            gateway.current.ring.slots.map { ($0.plan.keyID, $0) }, uniquingKeysWith: { first, _ in first })
        return KeyLifeOverview(board, slots: slots, at: now) { [clock = audit.clock] in clock.isOver($0) }
    }

    public func overview(of keyID: String) throws(KeyLifeRefusal) -> KeyLifeOverview.Key {
        try requireLoaded()
        for account in overview().accounts {
            if let key = account.keys.first(where: { $0.life.keyID == keyID }) { return key }
        }
        throw KeyLifeRefusal(.unknown, "There is no key \(keyID). privyseal keys states shows those that there are.")
    }

    // MARK: Changes

    /// - Parameter actor: the administrator who wants it.
    public func change(
        _ order: KeyChangeOrder, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try Self.require(reason: order.reason)
        if order.action == .suspend || order.action == .compromise { return try await stop(order, by: actor.name) }
        if order.action == .activate {
            return try await exclusively(order.keyID) { () throws(KeyLifeRefusal) in
                try await proveAndDecide(order, by: actor)
            }
        }
        return try await proveAndDecide(order, by: actor)
    }

    private func proveAndDecide(
        _ order: KeyChangeOrder, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try requireLoaded()
        let issuerID = try rules.record(order.keyID).issuerID
        let proof = order.action.needsTwo && wantsTwo(issuerID) ? nil : try await proof(for: order)
        return try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor, with: proof) }
    }

    func decide(
        _ order: KeyChangeOrder, by actor: Administrator, with proof: FreshProof? = nil
    ) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        let record = try rules.record(order.keyID)
        if order.action.needsTwo, wantsTwo(record.issuerID) {
            try require(actor, inAccount: record.issuerID)
            // What is refused now need not be approved first.
            try rules.check(order)
            return .proposed(
                try await propose(
                    order.action, issuerID: record.issuerID, keyID: order.keyID, details: order.details,
                    reason: order.reason, by: actor))
        }
        return .done(try await perform(order, Hand(actor: actor.name, reason: order.reason, proof: proof)))
    }

    /// Every change passes here, whether it was ordered or approved: the rules are asked when it is made.
    func perform(_ order: KeyChangeOrder, _ hand: Hand) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        let rules = rules
        try rules.check(order)
        switch order.action {
        case .activate: return try await activate(order, hand)
        case .retire: return try await record([change(try rules.retirement(order.keyID), to: .retired, .retire, hand)])
        case .suspend:
            var record = try rules.suspension(order.keyID)
            record.suspendedFrom = record.state
            return try await settle(change(record, to: .suspended, .suspend, hand))
        case .resume:
            let (record, state) = try rules.resumption(order.keyID)
            var resumed = change(record, to: state, .resume, hand)
            resumed.suspendedFrom = nil
            if state == .active { try require(hand.proof, of: order.keyID) }
            return try await self.record([resumed])
        case .compromise:
            return try await settle(change(try rules.compromise(order.keyID), to: .compromised, .compromise, hand))
        case .restore:
            let (record, state) = try rules.restoration(order.keyID)
            var restored = change(record, to: state, .restore, hand)
            if state == .suspended { restored.suspendedFrom = .staged }
            restored.restoredAt = restored.since
            return try await self.record([restored], fulfilling: hand.fulfils)
        case .adopt, .import, .generate, .expire, .revert, .destroy:
            throw KeyLifeRefusal("\(order.action.rawValue) is nothing that can be asked for here.")
        }
    }

    // MARK: Parts

    /// Who does something, and why.
    struct Hand {
        var actor: String
        var approver: String?
        var reason: String
        /// The proposal that is used up by the change.
        var fulfils: KeyProposal?
        /// That the key signs now, where the change needs that.
        var proof: FreshProof?
    }

    /// A record whose fingerprint is not known yet has that of the key that is open.
    var rules: KeyLifeRules {
        var records = board.records
        let overdue = records.values.filter { board.deadline(of: $0).map(audit.clock.isOver) == true }.map(\.keyID)
        for slot in gateway.current.ring.slots where records[slot.plan.keyID]?.fingerprint == nil {
            records[slot.plan.keyID]?.fingerprint = slot.fingerprint
        }
        return KeyLifeRules(records: records, ceremonies: board.ceremonies, overdue: Set(overdue))
    }

    func account(_ issuerID: String) -> AccountPlan? { board.accounts.first { $0.issuerID.hasSameBytes(as: issuerID) } }

    func wantsTwo(_ issuerID: String) -> Bool { board.wantsTwo(issuerID) }

    /// The record as it is after a change.
    func change(
        _ record: KeyLifeRecord, to state: KeyLifeState, _ action: KeyLifeAction, _ hand: Hand,
        at time: Timestamp? = nil, retireAt: Timestamp? = nil, evidence: [String: String] = [:]
    ) -> KeyLifeRecord {
        let time = time ?? now
        var changed = record
        changed.fingerprint = record.fingerprint ?? slot(record.keyID)?.fingerprint
        changed.state = state
        changed.since = time
        if action == .compromise { changed.noteCompromise(at: time) }
        // What was to retire at a time still is when it is resumed.
        if state != .suspended { changed.retireAt = retireAt ?? (state == .retiring ? record.retireAt : nil) }
        changed.history.append(
            KeyLifeChange(
                time: time, action: action, from: record.state, to: state, actor: hand.actor, approver: hand.approver,
                reason: hand.reason, retireAt: retireAt, evidence: evidence))
        return changed
    }

    private func settle(_ changed: KeyLifeRecord) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        // What was under way gets its entry first, so that none in the log is younger than the stop. Only the active key has
        // requests that name none.
        if changed.history.last?.from == .active {
            _ = await board.account(changed.issuerID).drained(patience: Self.stopPatience)
        }
        var stopped = changed
        stopped.since = now
        if stopped.state == .compromised, stopped.compromisedAt == changed.since {
            stopped.compromisedAt = stopped.since
        }
        if let last = stopped.history.indices.last { stopped.history[last].time = stopped.since }
        return try await record([stopped])
    }

    private static let stopPatience = Duration.seconds(1)

    /// One transaction: the last change of each, and the registers. Then it holds.
    ///
    /// - Parameter time: of the entries, where it is not that of the last change.
    func record(
        _ changed: [KeyLifeRecord], at time: Timestamp? = nil, fulfilling proposal: KeyProposal? = nil
    ) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        let changed = changed.map { $0.limited() }
        board.noteDeadlines(changed, at: audit.clock.stepped)
        var told: [Registration] = changed.map {
            ($0.lifeRecord, RegisterName.key($0.keyID), $0.jsonBytes(capacity: 1024))
        }
        // In the same transaction: an approval is good for once.
        if let proposal {
            told.append(
                registration(proposal, .approved, by: changed.first?.history.last?.approver ?? "", isOpen: false))
        }
        try await register(told, at: time ?? changed.last?.history.last?.time)
        board.set(changed, proposals: proposal.map { used in board.proposals.filter { $0.id != used.id } })
        for record in changed {
            logger.notice(
                "The key is \(record.state.rawValue)",
                metadata: ["keyId": "\(record.keyID)", "action": "\(record.history.last?.action.rawValue ?? "")"])
        }
        doorbell.ring()
        return changed
    }

    /// What one entry tells, and the register that it changes.
    typealias Registration = (record: LifeRecord, name: String, value: [UInt8])

    func register(
        _ records: [Registration], at time: Timestamp? = nil
    ) async throws(KeyLifeRefusal) {
        guard !isBehind.withLock({ $0 }) else {
            // A value that was made from the state in memory would overwrite what the register has.
            throw KeyLifeRefusal(
                .unrecorded,
                "The last change may or may not be in the register; that shows when the audit log can be written.")
        }
        for record in records { try Self.requireReadable(record.name, record.value) }
        do throws(AuditError) { try await audit.register(records, at: time ?? now) } catch {
            // A write that took too long may have been done all the same.
            isBehind.withLock { $0 = true }
            throw Self.unrecorded(error)
        }
    }

    private static func unrecorded(_ error: AuditError) -> KeyLifeRefusal {
        KeyLifeRefusal(.unrecorded, "It could not be recorded, so nothing has changed in the register. \(error)")
    }

    /// What is written is read again at the next start, which fails if it cannot be.
    private static func requireReadable(_ name: String, _ value: [UInt8]) throws(KeyLifeRefusal) {
        guard value.count <= KeyLifeLimits.register else {
            throw KeyLifeRefusal(
                "The register \(name) would have \(value.count) bytes; at most \(KeyLifeLimits.register) are allowed. Nothing has "
                    + "changed.")
        }
        do throws(JSONReadError) {
            try KeyBoard().load(
                [name: AuditRegister(name: name, value: value, entry: 0)], at: Timestamp(milliseconds: 0))
        } catch {
            throw KeyLifeRefusal("The register \(name) could not be read again: \(error) Nothing has changed.")
        }
    }

    /// Runs one change after the other. A turn asks no token, since a stop that waits would wait for the token, too. Only
    /// `drained` waits in a turn for requests that are under way, and that has a limit.
    ///
    /// - Parameter isUrgent: whether it passes before other changes that wait.
    func inTurn<Value>(
        isUrgent: Bool = false, _ body: () async throws(KeyLifeRefusal) -> Value
    ) async throws(KeyLifeRefusal) -> Value {
        try await turnstile.pass(isUrgent: isUrgent) { () async -> Result<Value, KeyLifeRefusal> in
            catchUp()
            do throws(KeyLifeRefusal) {
                try requireLoaded()
                // Each change goes on from a state that stands in the log.
                try await recordAdoptions()
                try await recordStops()
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Without the register, no key is known, and "there is no such key" would be wrong.
    func requireLoaded() throws(KeyLifeRefusal) {
        guard !board.isLoaded else { return }
        throw KeyLifeRefusal(
            .unrecorded,
            "The states of keys are not known yet, because the audit log has not been opened. See privyseal status, and try again."
        )
    }

    /// After a write whose end is not known: what the register holds is what is so.
    private func catchUp() {
        guard audit.state.isWritable, isBehind.withLock({ $0 }) else { return }
        do throws(JSONReadError) {
            try board.load(audit.registers, at: now)
            isBehind.withLock { $0 = false }
        } catch {
            logger.critical("The register of keys cannot be read: \(error)")
        }
    }

    /// Two activations at once would each retire the same key: the second is refused, not queued.
    func exclusively<Value>(
        _ keyID: String, _ body: () async throws(KeyLifeRefusal) -> Value
    ) async throws(KeyLifeRefusal) -> Value {
        try requireLoaded()
        let issuerID = try rules.record(keyID).issuerID
        guard activating.withLock({ $0.insert(issuerID).inserted }) else {
            throw KeyLifeRefusal("Another activation in this account is under way. Look at its result first.")
        }
        defer { _ = activating.withLock { $0.remove(issuerID) } }
        return try await body()
    }

    static func require(reason: String) throws(KeyLifeRefusal) {
        guard reason.contains(where: { !$0.isWhitespace }) else {
            throw KeyLifeRefusal("Give a reason: whoever reads the record in a year has to understand the change.")
        }
        guard reason.utf8.count <= KeyLifeLimits.reason else {
            throw KeyLifeRefusal("The reason is longer than \(KeyLifeLimits.reason) bytes.")
        }
        try KeyLifeLimits.checkCharacters(reason, "reason")
    }

    // MARK: Running

    /// Records keys that were adopted, retires those whose time has come, and forgets proposals that nobody approved in time.
    public func run() async throws {
        // A token that hangs must not delay what is done in time, nor the last stops at the end: nothing waits for this task.
        let looks = Task { [weak self] in
            while !Task.isCancelled {
                await self?.concludeReports()
                try? await Task.sleep(for: Self.lookInterval)
            }
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.keepUp()
                await self.doorbell.wait(atMost: self.untilNext)
            }
        }
        looks.cancel()
        watches.end()
        await recordLastStops()
    }

    private var untilNext: Duration {
        let deadlines = board.records.values.filter { $0.state == .retiring }.compactMap(board.deadline)
        guard let next = deadlines.map(audit.clock.remaining).min() else { return .seconds(1) }
        return min(.seconds(1), max(.milliseconds(5), next))
    }

    /// Before changes that are made while no gateway runs.
    public func prepare() async throws(KeyLifeRefusal) {
        // The register may not even be loaded.
        if case .unwritable(let error) = audit.state { throw Self.unrecorded(error) }
        try await inTurn { () throws(KeyLifeRefusal) in
            try await forgetExpiredProposals()
        }
    }

    /// What cannot be recorded now is tried again.
    func keepUp() async {
        guard audit.state.isWritable else { return }
        _ = try? await inTurn { () throws(KeyLifeRefusal) in
            for record in board.records.values where record.state == .retiring {
                guard let deadline = board.deadline(of: record), audit.clock.isOver(deadline) else { continue }
                let hand = Hand(actor: Self.gatewayName, reason: "The time at which it was to retire has come.")
                _ = try await self.record([change(record, to: .retired, .expire, hand)])
            }
            try await forgetExpiredProposals()
        }
    }

    /// Those whose adoption is all of their history and not in the register yet.
    func recordAdoptions() async throws(KeyLifeRefusal) {
        let registers = audit.registers
        var adopted = board.records.values
            .filter { registers[RegisterName.key($0.keyID)] == nil }
            .sorted { $0.keyID < $1.keyID }
        guard !adopted.isEmpty else { return }
        let slots = gateway.current.ring.slots
        for index in adopted.indices {
            adopted[index].fingerprint = slots.first { $0.plan.keyID == adopted[index].keyID }?.fingerprint
        }
        // They were adopted a while ago, and entries go on from one time to the next.
        _ = try await record(adopted, at: now)
    }
}

extension KeyChangeOrder {
    /// As a proposal keeps them.
    var details: [String: String] {
        var details: [String: String] = [:]
        if let retiring { details["retiring"] = retiring }
        if let overlap { details["overlap"] = "\(overlap)" }
        if let watch { details["watch"] = "\(watch)" }
        return details
    }
}

extension KeyLifeRecord {
    /// Its last change, as the log tells it.
    var lifeRecord: LifeRecord {
        let change = history.last
        return LifeRecord(
            .changed, action: change?.action.rawValue ?? "", issuerID: issuerID, keyID: keyID,
            actor: change?.actor ?? "", approver: change?.approver, reason: change?.reason,
            from: change?.from?.rawValue, to: state.rawValue, retireAt: retireAt,
            fingerprint: fingerprint?.description, evidence: change?.evidence ?? [:])
    }
}
