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
    private let turnstile = Turnstile()
    /// Accounts in which an activation is under way.
    private let activating = Mutex<Set<String>>([])
    private let doorbell = Doorbell()
    /// Whether the register may hold what memory does not.
    private let isBehind = Mutex(false)
    /// Keys that are stopped, of which the register does not say so yet.
    private let unrecordedStops = Mutex<[String: (KeyChangeOrder, actor: String)]>([:])
    let watches = KeyWatches()
    let reversals = Counter(label: "privyseal_key_reversals_total")

    /// Nobody but the gateway itself wants it.
    static let gatewayName = "gateway"

    public init(_ gateway: LiveGateway, audit: AuditLog) {
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
        return KeyLifeOverview(board, slots: slots, at: now)
    }

    public func overview(of keyID: String) throws(KeyLifeRefusal) -> KeyLifeOverview.Key {
        for account in overview().accounts {
            if let key = account.keys.first(where: { $0.life.keyID == keyID }) { return key }
        }
        throw KeyLifeRefusal(.unknown, "There is no key \(keyID). privyseal keys states shows those that there are.")
    }

    // MARK: Changes

    /// - Parameter actor: the administrator who wants it.
    public func change(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        try Self.require(reason: order.reason)
        if order.action == .suspend || order.action == .compromise { return try await stop(order, by: actor) }
        if order.action == .activate {
            return try await exclusively(order.keyID) { () throws(KeyLifeRefusal) in
                try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor) }
            }
        }
        return try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor) }
    }

    private func decide(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        let record = try rules.record(order.keyID)
        if [.activate, .resume, .restore].contains(order.action),
            board.ceremonies.contains(where: { $0.keyID == order.keyID && $0.action == .destroy })
        {
            throw KeyLifeRefusal(
                "The destruction of \(order.keyID) has begun and not ended. End it first: privyseal keys destroy \(order.keyID)."
            )
        }
        if order.action.needsTwo, wantsTwo(record.issuerID) {
            try check(order)
            return .proposed(
                try await propose(
                    order.action, issuerID: record.issuerID, keyID: order.keyID, details: order.details,
                    reason: order.reason, by: actor))
        }
        return .done(try await perform(order, by: actor, approver: nil))
    }

    /// Whether it could be done now; what is refused then need not be approved first.
    private func check(_ order: KeyChangeOrder) throws(KeyLifeRefusal) {
        switch order.action {
        case .activate: _ = try rules.activation(order)
        case .restore: _ = try rules.restoration(order.keyID)
        default: break
        }
    }

    func perform(
        _ order: KeyChangeOrder, by actor: String, approver: String?
    ) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        let hand = Hand(actor: actor, approver: approver, reason: order.reason)
        let rules = rules
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
            if state == .active { try await requireProof(of: order.keyID) }
            return try await self.record([resumed])
        case .compromise:
            return try await settle(change(try rules.compromise(order.keyID), to: .compromised, .compromise, hand))
        case .restore:
            var restored = change(try rules.restoration(order.keyID), to: .suspended, .restore, hand)
            restored.suspendedFrom = .staged
            return try await record([restored])
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
    }

    var rules: KeyLifeRules { KeyLifeRules(records: board.records, now: now) }

    func account(_ issuerID: String) -> AccountPlan? { board.accounts.first { $0.issuerID == issuerID } }

    func wantsTwo(_ issuerID: String) -> Bool {
        board.accounts.contains { $0.issuerID == issuerID && $0.hasDualControl }
    }

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
        // What was to retire at a time still is when it is resumed.
        if state != .suspended { changed.retireAt = retireAt ?? (state == .retiring ? record.retireAt : nil) }
        changed.history.append(
            KeyLifeChange(
                time: time, action: action, from: record.state, to: state, actor: hand.actor, approver: hand.approver,
                reason: hand.reason, retireAt: retireAt, evidence: evidence))
        return changed
    }

    /// The key signs nothing from now on, whatever is under way and whatever becomes of the record. What cannot be recorded
    /// now is tried again, and may be asked for again.
    private func stop(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        let isSuspension = order.action == .suspend
        _ = try isSuspension ? rules.suspension(order.keyID) : rules.compromise(order.keyID)
        board.hold(order.keyID, as: isSuspension ? .suspended : .compromised)
        do throws(KeyLifeRefusal) {
            let answer = try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor) }
            unrecordedStops.withLock { $0[order.keyID] = nil }
            board.release(order.keyID)
            return answer
        } catch {
            if error.kind == .unrecorded {
                unrecordedStops.withLock { $0[order.keyID] = (order, actor) }
                throw KeyLifeRefusal(
                    .unrecorded,
                    "The key \(order.keyID) is stopped, but that could not be recorded yet; it is tried again by itself, and "
                        + "ends with this process until then. \(error)")
            }
            board.release(order.keyID)
            throw error
        }
    }

    private func settle(_ changed: KeyLifeRecord) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        // What was under way gets its entry first, so that none in the log is younger than the stop. Only the active key has
        // requests that name none.
        if changed.history.last?.from == .active {
            _ = await board.account(changed.issuerID).drained(patience: Self.stopPatience)
        }
        var stopped = changed
        stopped.since = now
        if let last = stopped.history.indices.last { stopped.history[last].time = stopped.since }
        return try await record([stopped])
    }

    private static let stopPatience = Duration.seconds(1)

    /// One transaction: the last change of each, and the registers. Then it holds.
    ///
    /// - Parameter time: of the entries, where it is not that of the last change.
    func record(
        _ changed: [KeyLifeRecord], at time: Timestamp? = nil
    ) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        try await register(
            changed.map { ($0.lifeRecord, RegisterName.key($0.keyID), $0.jsonBytes(capacity: 1024)) },
            at: time ?? changed.last?.history.last?.time)
        board.set(changed)
        for record in changed {
            logger.notice(
                "The key is \(record.state.rawValue)",
                metadata: ["keyId": "\(record.keyID)", "action": "\(record.history.last?.action.rawValue ?? "")"])
        }
        doorbell.ring()
        return changed
    }

    func register(
        _ records: [(record: LifeRecord, name: String, value: [UInt8])], at time: Timestamp? = nil
    ) async throws(KeyLifeRefusal) {
        do throws(AuditError) { try await audit.register(records, at: time ?? now) } catch {
            // A write that took too long may have been done all the same.
            isBehind.withLock { $0 = true }
            throw KeyLifeRefusal(
                .unrecorded, "It could not be recorded, so nothing has changed in the register. \(error)")
        }
    }

    func inTurn<Value>(_ body: () async throws(KeyLifeRefusal) -> Value) async throws(KeyLifeRefusal) -> Value {
        try await turnstile.pass { () async -> Result<Value, KeyLifeRefusal> in
            catchUp()
            do throws(KeyLifeRefusal) {
                // Each change goes on from a state that stands in the log.
                try await recordAdoptions()
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }.get()
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
    private func exclusively<Value>(
        _ keyID: String, _ body: () async throws(KeyLifeRefusal) -> Value
    ) async throws(KeyLifeRefusal) -> Value {
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
        guard reason.utf8.count <= 500 else { throw KeyLifeRefusal("The reason is longer than 500 bytes.") }
    }

    // MARK: Running

    /// Records keys that were adopted, retires those whose time has come, and forgets proposals that nobody approved in time.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.keepUp()
                await self.doorbell.wait(atMost: self.untilNext)
            }
        }
        watches.end()
    }

    private var untilNext: Duration {
        let now = now
        let next = board.records.values.compactMap { $0.state == .retiring ? $0.retireAt : nil }.min()
        guard let next else { return .seconds(1) }
        return min(.seconds(1), max(.milliseconds(5), .milliseconds(next.milliseconds - now.milliseconds)))
    }

    /// Before changes that are made while no gateway runs.
    public func prepare() async throws(KeyLifeRefusal) {
        try await inTurn { () throws(KeyLifeRefusal) in
            try await forgetExpiredProposals()
        }
    }

    /// What cannot be recorded now is tried again.
    private func keepUp() async {
        guard audit.state.isWritable else { return }
        for (order, actor) in unrecordedStops.withLock({ Array($0.values) }) { _ = try? await stop(order, by: actor) }
        _ = try? await inTurn { () throws(KeyLifeRefusal) in
            let now = now
            for record in board.records.values where record.state == .retiring {
                guard let retireAt = record.retireAt, retireAt <= now else { continue }
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
