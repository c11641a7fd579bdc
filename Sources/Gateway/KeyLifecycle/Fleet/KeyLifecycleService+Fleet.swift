import AuditKit
import AuditLog
import Logging
public import Signing
import SigningKit
import StrictJSON
import Synchronization

/// Follows the register of the fleet: what other gateways have changed, and what they ask of this one.
extension KeyLifecycleService {
    /// Reads the register several times a second until the task is cancelled.
    func follow(_ fleet: FleetRegister) async {
        var lastComplaint: String?
        while !Task.isCancelled {
            do {
                try await read(fleet)
                if lastComplaint != nil { logger.notice("The key states of the fleet are read again") }
                lastComplaint = nil
            } catch {
                let complaint = "\(error)"
                if complaint != lastComplaint {
                    logger.critical("The key states of the fleet cannot be read. \(complaint)")
                }
                lastComplaint = complaint
            }
            answerActivations(in: fleet)
            await concludeActivations(in: fleet)
            fenceGateways(in: fleet)
            await fleet.wake.wait(atMost: isChanging ? FleetRegister.changePause : fleet.pause)
        }
    }

    /// Reads the register if it has grown, and tells the others how much this gateway has read.
    private func read(_ fleet: FleetRegister) async throws {
        let begun = ContinuousClock.now
        let view = try await fleet.renew()
        if view.size > audit.content.entryCount || !stateCache.isLoaded { try await audit.follow() }
        let content = audit.content
        guard view.size <= content.entryCount else {
            throw AuditStoreError.replaced("The log of the fleet could not be read up to its last entry.")
        }
        if stateCache.isLoaded || !content.registers.isEmpty {
            try load(content, in: fleet)
        } else {
            try await beginRegister(of: fleet)
        }
        fleet.keepAnswers(to: stateCache.activations)
        // This process may have been stopped at the time of effect.
        if stateCache.hasOverdueEffect { stateCache.publishEffects() }
        let isNew = content.entryCount > fleet.applied
        fleet.note(applied: content.entryCount, readAt: begun, isChanging: isChanging)
        // Others may wait for this gateway.
        if isNew { _ = try await fleet.renew() }
    }

    /// Whether an active key changes, or will at an agreed time.
    private var isChanging: Bool { !stateCache.activations.isEmpty || !stateCache.pendingEffects.isEmpty }

    private func load(_ content: AuditLog.Content, in fleet: FleetRegister) throws(JSONReadError) {
        guard content.entryCount > fleet.applied || !stateCache.isLoaded else { return }
        try stateCache.load(content.registers, size: content.entryCount, at: now)
        for effect in stateCache.pendingEffects { apply(effect, in: fleet) }
    }

    /// The first gateway of a fleet gives its own register to the fleet.
    private func beginRegister(of fleet: FleetRegister) async throws {
        let own = fleet.ownRegisters
        let records = own.values.sorted { $0.name < $1.name }.map { register in
            let keyID = register.name.hasPrefix(RegisterName.key("")) ? String(register.name.dropFirst(4)) : ""
            let entry = KeyLifecycleEntry(
                .changed, action: KeyLifecycleAction.adopt.rawValue, issuerID: "", keyID: keyID,
                actor: Self.gatewayName, reason: "The register of \(fleet.gateway) is that of the fleet now.")
            return (record: entry, name: register.name, value: register.value)
        }
        do throws(AuditError) {
            if !records.isEmpty { try await audit.register(records, at: now, basis: [:]) }
        } catch {
            // Another gateway was first.
            guard error == .superseded else { throw error }
        }
        let content = audit.content
        try stateCache.load(content.registers, size: content.entryCount, at: now)
    }

    // MARK: Effects

    /// Makes a recorded change apply to requests at its time. Requests that have selected a key before finish with it;
    /// requests that come meanwhile wait for them.
    private func apply(_ effect: (issuerID: String, time: Timestamp), in fleet: FleetRegister) {
        guard scheduled.withLock({ $0.insert(effect.time).inserted }) else { return }
        Task {
            while case let rest = fleet.clock.remaining(until: effect.time), rest > .zero {
                try? await Task.sleep(for: rest)
            }
            let life = stateCache.account(effect.issuerID)
            _ = await life.shut(timeout: FleetClock.drainTimeout)
            stateCache.publishEffects()
            life.open()
            scheduled.withLock { _ = $0.remove(effect.time) }
        }
    }

    // MARK: Fencing

    /// Prevents a gateway from writing, and so from signing, until it is started again. Activations no longer wait for
    /// it.
    ///
    /// - Parameter origin: of the gateway's log.
    public func fence(
        _ origin: String, reason: String, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> FencedGateway {
        let fleet = try requireFleet()
        try Self.require(reason: reason)
        guard let member = fleet.view?.members.first(where: { $0.origin.hasSameBytes(as: origin) }) else {
            throw KeyLifecycleRefusal(.unknown, "No gateway \(origin) belongs to the fleet. See privyseal fleet show.")
        }
        guard origin != fleet.gateway else {
            throw KeyLifecycleRefusal("\(origin) is the gateway that got the order. Stop it, or ask another one.")
        }
        guard !member.isGone else {
            throw KeyLifecycleRefusal("\(origin) has left the fleet, or is fenced already.")
        }
        let gateway = FencedGateway(
            origin: origin, epoch: member.epoch, reason: reason, actor: actor.name, time: now)
        try await inTurn { () throws(KeyLifecycleRefusal) in
            var transaction = RegisterTransaction()
            let entry = KeyLifecycleEntry(
                .changed, action: "fence", issuerID: "", keyID: "", actor: actor.name, reason: reason,
                evidence: ["gateway": origin, "epoch": "\(member.epoch)"])
            transaction.set(gateway, among: stateCache.fencedGateways, entry)
            try await commit(transaction)
        }
        do throws(AuditStoreError) { try await fleet.fence(gateway) } catch {
            throw KeyLifecycleRefusal(
                .unrecorded,
                "The order to fence \(origin) is recorded, but not in effect yet: \(error) The gateways try again.")
        }
        return gateway
    }

    /// Carries out recorded orders that their gateway did not carry out.
    private func fenceGateways(in fleet: FleetRegister) {
        for gateway in stateCache.fencedGateways {
            let member = fleet.view?.members.first { $0.origin == gateway.origin }
            guard let member, member.epoch == gateway.epoch, !member.isGone,
                fencing.withLock({ $0.insert(gateway.origin).inserted })
            else { continue }
            Task {
                do throws(AuditStoreError) { try await fleet.fence(gateway) } catch {
                    logger.error("The gateway \(gateway.origin) could not be fenced yet. \(error)")
                }
                fencing.withLock { _ = $0.remove(gateway.origin) }
            }
        }
    }

    func requireFleet() throws(KeyLifecycleRefusal) -> FleetRegister {
        guard let fleet else {
            throw KeyLifecycleRefusal(
                .unknown, "This gateway belongs to no fleet: its configuration has no section fleet.")
        }
        return fleet
    }

    // MARK: Overview

    /// The gateways of the fleet.
    public func fleetOverview() throws(KeyLifecycleRefusal) -> FleetOverview {
        let fleet = try requireFleet()
        guard let view = fleet.view else {
            throw KeyLifecycleRefusal(.unrecorded, "The fleet has not been read yet. See privyseal status.")
        }
        return FleetOverview(view, in: fleet, activations: stateCache.activations, fenced: stateCache.fencedGateways)
    }
}
