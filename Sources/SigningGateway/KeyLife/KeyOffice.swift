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
        if order.action == .activate {
            return try await exclusively(order.keyID) { () throws(KeyLifeRefusal) in
                try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor) }
            }
        }
        return try await inTurn { () throws(KeyLifeRefusal) in try await decide(order, by: actor) }
    }

    private func decide(_ order: KeyChangeOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyChangeAnswer {
        let record = try rules.record(order.keyID)
        if order.action.needsTwo, account(record.issuerID)?.hasDualControl == true {
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
            return try await stop(change(record, to: .suspended, .suspend, hand))
        case .resume:
            let (record, state) = try rules.resumption(order.keyID)
            var resumed = change(record, to: state, .resume, hand)
            resumed.suspendedFrom = nil
            if state == .active { try await requireProof(of: order.keyID) }
            return try await self.record([resumed])
        case .compromise:
            return try await stop(change(try rules.compromise(order.keyID), to: .compromised, .compromise, hand))
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

    /// It signs nothing from now on, whatever becomes of the record.
    private func stop(_ changed: KeyLifeRecord) async throws(KeyLifeRefusal) -> [KeyLifeRecord] {
        board.set([changed])
        // What was under way gets its entry first, so that none in the log is younger than the stop.
        _ = await board.account(changed.issuerID).drained(patience: Self.stopPatience)
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
            throw KeyLifeRefusal(
                .unrecorded, "It could not be recorded, so nothing has changed in the register. \(error)")
        }
    }

    func inTurn<Value>(_ body: () async throws(KeyLifeRefusal) -> Value) async throws(KeyLifeRefusal) -> Value {
        try await turnstile.pass { () async -> Result<Value, KeyLifeRefusal> in
            do throws(KeyLifeRefusal) { return .success(try await body()) } catch { return .failure(error) }
        }.get()
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
            try await recordAdoptions()
            try await forgetExpiredProposals()
        }
    }

    /// What cannot be recorded now is tried again.
    private func keepUp() async {
        guard audit.state.isWritable else { return }
        _ = try? await inTurn { () throws(KeyLifeRefusal) in
            try await recordAdoptions()
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
