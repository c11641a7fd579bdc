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

    /// Has the keys of open activations sign proofs, without waiting for them.
    func answerActivations(in fleet: FleetRegister) {
        for activation in stateCache.activations where activation.gateways.contains(fleet.gateway) {
            guard fleet.needsAnswer(activation.id), answering.withLock({ $0.insert(activation.id).inserted }) else {
                continue
            }
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

    /// Records the activations for which every gateway has answered.
    func concludeActivations(in fleet: FleetRegister) async {
        for activation in stateCache.activations {
            guard let view = fleet.view, let answers = answers(to: activation, in: view) else { continue }
            let first = complete.withLock { complete in
                let first = complete[activation.id] ?? .now
                complete[activation.id] = first
                return first
            }
            guard activation.orderedAt == fleet.gateway || .now - first > Self.conclusionDelay else { continue }
            do throws(KeyLifecycleRefusal) {
                try await inTurn(isUrgent: true) { () throws(KeyLifecycleRefusal) in
                    try await conclude(activation, answers, in: fleet)
                }
            } catch {
                logger.error("The activation of \(activation.keyID) could not be recorded. \(error)")
            }
        }
        let open = stateCache.activations
        complete.withLock { complete in
            complete = complete.filter { entry in open.contains { $0.id == entry.key } }
        }
    }

    /// The answers of the gateways that an activation names; nil while one is missing.
    private func answers(
        to activation: FleetActivation, in view: FleetView
    ) -> [(gateway: FleetMember, refusal: String?)]? {
        guard waitedFor(by: activation, in: view).isEmpty else { return nil }
        return view.members.compactMap { member in
            let answer = [FleetAnswer](answers: member.report.answer).first { $0.activation == activation.id }
            return answer.map { (member, $0.refusal) }
        }
    }

    /// The gateways that have not answered. One that has stopped or is fenced is not waited for. A refusal ends the
    /// activation at once.
    private func waitedFor(by activation: FleetActivation, in view: FleetView) -> [String] {
        var missing: [String] = []
        for origin in activation.gateways {
            guard let member = view.members.first(where: { $0.origin == origin }), !member.isGone else { continue }
            guard
                let answer = [FleetAnswer](answers: member.report.answer).first(where: {
                    $0.activation == activation.id
                })
            else {
                missing.append(origin)
                continue
            }
            if answer.refusal != nil { return [] }
        }
        return missing
    }

    private func conclude(
        _ activation: FleetActivation, _ answers: [(gateway: FleetMember, refusal: String?)], in fleet: FleetRegister
    ) async throws(KeyLifecycleRefusal) {
        // Another gateway may have concluded it.
        guard stateCache.activations.contains(activation) else { return }
        if let refused = answers.first(where: { $0.refusal != nil }) {
            return try await cancel(
                activation, because: "\(refused.gateway.origin) cannot use the key. \(refused.refusal ?? "")")
        }
        let step: KeyLifecycleRules.Transition
        do throws(KeyLifecycleRefusal) {
            step = try rules.transition(activation.order)
            if let stop = stateCache.held[activation.keyID] {
                throw KeyLifecycleRefusal("The key \(activation.keyID) is being stopped (\(stop.rawValue)).")
            }
            try rules.requireOwnKey(activation.fingerprint, of: activation.keyID, amongLostOnly: true)
        } catch {
            return try await cancel(activation, because: error.description)
        }
        guard let fleetNow = fleet.clock.now else { return }
        let time = Timestamp(milliseconds: fleetNow.milliseconds + FleetClock.effectMilliseconds)
        let context = ChangeContext(actor: activation.actor, approver: activation.approver, reason: activation.reason)
        var new = step.record
        new.fingerprint = activation.fingerprint
        var active = change(
            new, to: .active, .activate, context, at: time,
            evidence: answers.map(\.gateway.origin).numbered(as: "provedBy"))
        active.effectiveAt = time
        var changed = [active]
        if let old = step.replaced {
            var retiring = change(
                old, to: .retiring, .retire, context, at: time,
                retireAt: time.later(by: Int64(clamping: activation.order.overlap ?? 0)))
            retiring.effectiveAt = time
            changed.append(retiring)
        }
        var transaction = RegisterTransaction()
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
        try await commit(transaction)
        logger.error("The activation was given up. \(reason)", metadata: ["keyId": "\(activation.keyID)"])
        failed.withLock { $0[activation.id] = reason }
    }

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
            return .activating(
                activation, waitingFor: fleet.view.map { waitedFor(by: activation, in: $0) } ?? activation.gateways)
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
