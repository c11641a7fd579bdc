import AuditKit
import AuditLog
import Logging
import Signing
import SigningKit
import Synchronization

/// Rotation by acknowledgement. An activation names the live gateways. Each of them proves the new key. When all have,
/// the change is recorded with a time, at which all gateways begin to use the key.
extension KeyLifecycleService {
    /// How long the gateway that got the order has to record the change. After that, any gateway does.
    private static let conclusionDelay = Duration.seconds(2)
    /// How long the decision may wait for other transactions. After that, it needs a later time of effect.
    private static let commitLimit = Duration.milliseconds(500)
    /// How long a command waits for gateways that do not answer.
    private static let answerLimit = Duration.seconds(8)

    /// Records the order.
    ///
    /// - Parameter fingerprint: of the key that this gateway has proved.
    func open(
        _ order: KeyChangeOrder, _ step: KeyLifecycleRules.Transition, _ context: ChangeContext,
        _ fingerprint: PublicKeyFingerprint, in fleet: FleetRegister
    ) async throws(KeyLifecycleRefusal) -> FleetActivation {
        let issuerID = step.record.issuerID
        guard fleet.isCurrent else {
            throw KeyLifecycleRefusal(
                .unrecorded, "This gateway has not read the other gateways of its fleet in the last second. Try again.")
        }
        let open = stateCache.activations
        if let other = open.first(where: { $0.issuerID.hasSameBytes(as: issuerID) }) {
            throw KeyLifecycleRefusal(
                "The activation of \(other.keyID) in this account waits for gateways. See privyseal fleet show. To give "
                    + "it up, suspend \(other.keyID).")
        }
        guard open.count < FleetActivation.limit else {
            throw KeyLifecycleRefusal("\(open.count) activations wait for gateways, which is the limit.")
        }
        let activation = FleetActivation(
            id: Self.newID(), issuerID: issuerID, keyID: step.record.keyID, fingerprint: fingerprint,
            details: order.details, reason: context.reason, actor: context.actor, approver: context.approver,
            ordered: now, orderedAt: fleet.gateway, gateways: fleet.live.map(\.origin))
        var transaction = RegisterTransaction()
        transaction.set(
            activation, isOpen: true, among: open,
            KeyLifecycleEntry(
                activation, .begun, by: context.actor, evidence: activation.gateways.numbered(as: "gateway")))
        if let proposal = context.fulfils {
            transaction.set(
                proposal, isOpen: false, among: stateCache.proposals, .approved, by: context.approver ?? "")
        }
        try await commit(transaction)
        return activation
    }

    // MARK: Answering

    /// Has the keys of open activations sign proofs, without waiting for them. Gateways that an activation does not name
    /// answer, too: they may have joined since.
    func answerActivations(in fleet: FleetRegister) {
        for activation in stateCache.activations {
            if let answer = fleet.answer(to: activation) {
                // A reload may have removed the key since.
                guard answer.refusal == nil, handle(activation.keyID)?.fingerprint != activation.fingerprint else {
                    continue
                }
                fleet.answer(
                    FleetAnswer(activation: activation.id, refusal: "The configuration does not name the key any more.")
                )
                continue
            }
            guard answering.withLock({ $0.insert(activation.id).inserted }) else { continue }
            fleet.beginChange()
            Task {
                var answer = FleetAnswer(activation: activation.id)
                do throws(KeyLifecycleRefusal) {
                    let proven = try await requireProof(of: activation.keyID)
                    if proven != activation.fingerprint {
                        answer.refusal = "The fingerprint of its key is \(proven), not \(activation.fingerprint)."
                    }
                } catch {
                    answer.refusal = String(
                        decoding: error.description.utf8.prefix(FleetAnswer.longestRefusal), as: UTF8.self)
                }
                fleet.answer(answer)
                answering.withLock { _ = $0.remove(activation.id) }
            }
        }
    }

    // MARK: Concluding

    /// Records the activations for which every gateway has answered, and gives up those that are not allowed any more.
    /// It waits for neither, because the gateway must read the register meanwhile.
    func concludeActivations(in fleet: FleetRegister) {
        for activation in stateCache.activations where isReady(activation, in: fleet) {
            guard concluding.withLock({ $0.insert(activation.id).inserted }) else { continue }
            Task {
                do throws(KeyLifecycleRefusal) {
                    try await inTurn(isUrgent: true) { () throws(KeyLifecycleRefusal) in
                        try await conclude(activation, in: fleet)
                    }
                } catch {
                    logger.error("The activation of \(activation.keyID) could not be recorded. \(error)")
                }
                concluding.withLock { _ = $0.remove(activation.id) }
            }
        }
        let open = stateCache.activations
        complete.withLock { complete in
            complete = complete.filter { entry in open.contains { $0.id == entry.key } }
        }
    }

    /// Whether this gateway should conclude the activation now.
    private func isReady(_ activation: FleetActivation, in fleet: FleetRegister) -> Bool {
        guard fleet.isCurrent else { return false }
        if obstacle(to: activation, in: fleet) == nil {
            // A gateway without the key must not record that the key is active.
            guard waitedFor(by: activation, in: fleet).isEmpty, fleet.answer(to: activation)?.refusal == nil else {
                return false
            }
        }
        let first = complete.withLock { complete in
            let first = complete[activation.id] ?? .now
            complete[activation.id] = first
            return first
        }
        return activation.orderedAt == fleet.gateway || .now - first > Self.conclusionDelay
    }

    /// Why the activation cannot be made: a gateway cannot use the key, or the register does not allow it any more.
    private func obstacle(to activation: FleetActivation, in fleet: FleetRegister) -> String? {
        for member in fleet.view?.members ?? [] {
            guard !member.isGone, isNamed(member, by: activation, in: fleet),
                let answer = answer(of: member, to: activation),
                let refusal = answer.refusal
            else { continue }
            return "\(member.origin) cannot use the key. \(refusal)"
        }
        do throws(KeyLifecycleRefusal) {
            _ = try rules.transition(activation.order)
            try rules.requireOwnKey(activation.fingerprint, of: activation.keyID, amongLostOnly: true)
        } catch {
            return error.description
        }
        return stateCache.held[activation.keyID].map {
            "The key \(activation.keyID) is being stopped (\($0.rawValue))."
        }
    }

    private func isNamed(_ member: FleetMember, by activation: FleetActivation, in fleet: FleetRegister) -> Bool {
        activation.gateways.contains(member.origin) || fleet.live.contains { $0.origin == member.origin }
    }

    private func answer(of member: FleetMember, to activation: FleetActivation) -> FleetAnswer? {
        [FleetAnswer](answers: member.report.answer).first { $0.activation == activation.id }
    }

    /// The gateways that have not answered: those that the activation names, and those that have joined since. One that
    /// has stopped or is fenced is not waited for.
    private func waitedFor(by activation: FleetActivation, in fleet: FleetRegister) -> [String] {
        (fleet.view?.members ?? []).filter { member in
            !member.isGone && isNamed(member, by: activation, in: fleet) && answer(of: member, to: activation) == nil
        }.map(\.origin)
    }

    private func conclude(
        _ activation: FleetActivation, in fleet: FleetRegister
    ) async throws(KeyLifecycleRefusal) {
        // Another gateway may have concluded it.
        guard stateCache.activations.contains(activation) else { return }
        if let obstacle = obstacle(to: activation, in: fleet) { return try await cancel(activation, because: obstacle) }
        guard waitedFor(by: activation, in: fleet).isEmpty else { return }
        let step = try rules.transition(activation.order)
        let proving = (fleet.view?.members ?? []).filter { answer(of: $0, to: activation) != nil }.map(\.origin)
        guard let fleetNow = fleet.clock.now else { return }
        let time = Timestamp(milliseconds: fleetNow.milliseconds + FleetClock.effectMilliseconds)
        let context = ChangeContext(actor: activation.actor, approver: activation.approver, reason: activation.reason)
        var new = step.record
        new.fingerprint = activation.fingerprint
        var active = change(
            new, to: .active, .activate, context, at: time,
            evidence: proving.numbered(as: "provedBy"))
        (active.effectiveAt, active.effectiveFrom) = (time, new.state)
        var changed = [active]
        if let old = step.replaced {
            var retiring = change(
                old, to: .retiring, .retire, context, at: time,
                retireAt: time.later(by: Int64(clamping: activation.order.overlap ?? 0)))
            (retiring.effectiveAt, retiring.effectiveFrom) = (time, old.state)
            changed.append(retiring)
        }
        var transaction = RegisterTransaction()
        transaction.latest = .now + Self.commitLimit
        for record in changed { transaction.set(record) }
        transaction.set(
            activation, isOpen: false, among: stateCache.activations,
            KeyLifecycleEntry(activation, .agreed, by: activation.actor, evidence: ["effectiveAt": time.text]))
        try await commit(transaction, at: now)
        logger.notice(
            "The key is active on all gateways from \(time.text)", metadata: ["keyId": "\(activation.keyID)"])
        if let old = step.replaced {
            watch(activation.keyID, insteadOf: old.keyID, for: activation.order.watch ?? Self.standardWatch)
        }
    }

    private func cancel(_ activation: FleetActivation, because reason: String) async throws(KeyLifecycleRefusal) {
        var transaction = RegisterTransaction()
        let shown = String(decoding: reason.utf8.prefix(KeyLifecycleLimits.evidenceValue), as: UTF8.self)
        transaction.set(
            activation, isOpen: false, among: stateCache.activations,
            KeyLifecycleEntry(activation, .failed, by: Self.gatewayName, evidence: ["failure": shown]))
        failed.withLock { failed in
            // Only a waiting `result(of:in:)` removes a reason. After a command has given up its wait, none does.
            if failed.count >= Self.mostReasons { failed = [:] }
            failed[activation.id] = reason
        }
        try await commit(transaction)
        logger.error("The activation was given up. \(reason)", metadata: ["keyId": "\(activation.keyID)"])
    }

    private static let mostReasons = 64

    // MARK: The answer to the order

    /// Waits until the change that an answer states is in effect on the live gateways, or until it is clear that this
    /// takes longer.
    func confirmed(_ answer: KeyLifecycleAnswer) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        guard let fleet else { return answer }
        switch answer {
        case .done(let records, _):
            return .done(records, await fleet.confirmation(of: audit.content.entryCount))
        case .activating(let activation, _): return try await result(of: activation, in: fleet)
        case .proposed, .begun, .waiting, .ended: return answer
        }
    }

    private func result(
        of activation: FleetActivation, in fleet: FleetRegister
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let isConcluded = await fleet.wait(atMost: Self.answerLimit) { _ in
            !stateCache.activations.contains { $0.id == activation.id }
        }
        guard isConcluded else {
            return .activating(activation, waitingFor: waitedFor(by: activation, in: fleet))
        }
        if let reason = failed.withLock({ $0.removeValue(forKey: activation.id) }) {
            throw KeyLifecycleRefusal("The activation was given up; nothing has changed. \(reason)")
        }
        let keys = [activation.keyID, activation.order.retiring].compactMap(\.self)
        let records = keys.compactMap { stateCache.records[$0] }
        guard let effect = records.first?.effectiveAt, records.first?.state == .active else {
            throw KeyLifecycleRefusal(
                "The activation has ended, but \(activation.keyID) is not active. See privyseal keys history \(activation.keyID)."
            )
        }
        let size = audit.content.entryCount
        try? await Task.sleep(for: fleet.clock.remaining(until: effect))
        return .done(records, await fleet.confirmation(of: size))
    }

    // MARK: Between the decision and its effect

    /// Waits until the changes in a key's account have taken effect.
    func waitForEffects(inAccountOf keyID: String) async {
        guard let fleet, let issuerID = stateCache.records[keyID]?.issuerID else { return }
        for effect in stateCache.pendingEffects where effect.issuerID == issuerID {
            try? await Task.sleep(for: fleet.clock.remaining(until: effect.time))
        }
    }

    /// Throws for an order other than a stop, while a change in the account has not taken effect.
    func requireNoPendingEffect(for order: KeyChangeOrder, _ issuerID: String) throws(KeyLifecycleRefusal) {
        guard order.action != .suspend, order.action != .compromise,
            stateCache.pendingEffects.contains(where: { $0.issuerID == issuerID })
        else { return }
        throw KeyLifecycleRefusal("A change in this account takes effect in a moment. Run the same command again.")
    }

    /// Whether the activation of the key is recorded, and has not taken effect.
    func hasPendingEffect(_ record: KeyLifecycleRecord) -> Bool {
        guard let fleet, record.state == .active, let effect = record.effectiveAt else { return false }
        return fleet.clock.remaining(until: effect) > .zero
    }

    /// If a key is stopped before its activation takes effect, the key that it was to replace stays active.
    ///
    /// - Parameter changed: the stopped key is the last.
    func restore(insteadOf changed: inout [KeyLifecycleRecord], _ context: ChangeContext) {
        guard let stopped = changed.last, let before = stateCache.records[stopped.keyID], before.state == .active,
            stopped.state != .active, let effect = before.effectiveAt
        else { return }
        let replaced = stateCache.records.values.filter {
            $0.issuerID == before.issuerID && $0.effectiveAt == effect && $0.effectiveFrom == .active
                && $0.state == .retiring
        }
        guard !replaced.isEmpty else { return }
        // It was not active yet, so `resume` must not make it active.
        if stopped.state == .suspended { changed[changed.count - 1].suspendedFrom = before.effectiveFrom ?? .staged }
        changed += replaced.map { change($0, to: .active, .revert, context) }
    }
}

extension KeyLifecycleEntry {
    init(_ activation: FleetActivation, _ event: Event, by actor: String, evidence: [String: String]) {
        self.init(
            event, action: KeyLifecycleAction.activate.rawValue, issuerID: activation.issuerID,
            keyID: activation.keyID, actor: actor, approver: activation.approver, reason: activation.reason,
            fingerprint: activation.fingerprint.description, id: activation.id, evidence: evidence)
    }
}

extension [String] {
    /// The elements as evidence: `name.1`, `name.2` and so on.
    fileprivate func numbered(as name: String) -> [String: String] {
        Dictionary(enumerated().map { ("\(name).\($0.offset + 1)", $0.element) }) { first, _ in first }
    }
}
