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
                // After an error, the log's own connection may be lost, too.
                if lastComplaint != nil { try await audit.follow() }
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
            concludeActivations(in: fleet)
            fenceGateways(in: fleet)
            recordRefusedPINs(in: fleet)
            await fleet.wake.wait(atMost: isChanging ? FleetRegister.changePause : fleet.pause)
        }
    }

    /// Gives back the requests of clients that this gateway leased and did not use.
    func giveBackRequests() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let snapshot = gateway.current
            await snapshot.dispatcher.giveBackRequests(of: snapshot.clients.clients)
        }
    }

    /// Reads the register if it has grown, and tells the others how much this gateway has read.
    private func read(_ fleet: FleetRegister) async throws {
        let begun = ContinuousClock.now
        let known = audit.content.entryCount
        let view = try await fleet.renew()
        guard view.size >= known else {
            throw AuditStoreError.replaced(
                "The log of the fleet has \(view.size) entries, but had \(known): an older copy replaced it. Restore the "
                    + "right one.")
        }
        if view.size > audit.content.entryCount || !stateCache.isLoaded { try await audit.follow() }
        let content = audit.content
        guard view.size <= content.entryCount else {
            throw AuditStoreError.replaced("The log of the fleet could not be read up to its last entry.")
        }
        if !stateCache.isLoaded { try await join(fleet) }
        try load(audit.content, in: fleet)
        fleet.keepAnswers(to: stateCache.activations)
        // This process may have been stopped at the time of effect.
        if stateCache.hasOverdueEffect { stateCache.publishEffects() }
        let size = stateCache.size
        let isNew = size > fleet.applied
        fleet.note(applied: size, readAt: begun, isChanging: isChanging)
        // Others may wait for this gateway.
        if isNew { _ = try await fleet.renew() }
    }

    /// Whether an active key changes, or will at an agreed time.
    private var isChanging: Bool { !stateCache.activations.isEmpty || stateCache.showsEarlierStates }

    private func load(_ content: AuditLog.Content, in fleet: FleetRegister) throws(JSONReadError) {
        if content.entryCount > stateCache.size {
            try stateCache.load(content.registers, size: content.entryCount, at: now)
        }
        for effect in stateCache.pendingEffects { apply(effect, in: fleet) }
    }

    // MARK: Joining

    /// Loads the register of the fleet for the first time. The first gateway gives its own register to the fleet, and a
    /// later one the keys that the fleet does not know. None may bring back a key that its own register had stopped.
    private func join(_ fleet: FleetRegister) async throws {
        let own = fleet.ownRegisters
        let content = audit.content
        var joined = try Self.joined(in: content.registers)
        let digest = RegistersLine.line(over: own.values)
        // The own register may have changed since, while the gateway ran without the fleet.
        if !own.isEmpty, joined[fleet.gateway] != digest {
            try Self.compare(own, with: content.registers, of: fleet)
            joined[fleet.gateway] = digest
            let isFirst = content.registers.isEmpty
            let unknown = own.values.filter { register in
                content.registers[register.name] == nil && (isFirst || register.name.hasPrefix(RegisterName.key("")))
            }
            let records = unknown.sorted { $0.name < $1.name }.map { Self.given($0.name, $0.value, by: fleet.gateway) }
            try await audit.register(
                records + [Self.given(RegisterName.joined, JSONText.encode(joined), by: fleet.gateway)], at: now,
                basis: content.registers.mapValues(\.value))
        }
        let loaded = audit.content
        try stateCache.load(loaded.registers, size: loaded.entryCount, at: now)
    }

    private static func given(
        _ name: String, _ value: [UInt8], by gateway: String
    ) -> (record: KeyLifecycleEntry, name: String, value: [UInt8]) {
        let prefix = RegisterName.key("")
        let entry = KeyLifecycleEntry(
            .changed, action: KeyLifecycleAction.adopt.rawValue, issuerID: "",
            keyID: name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : "", actor: gatewayName,
            reason: "The gateway \(gateway) and its register joined the fleet.")
        return (entry, name, value)
    }

    /// By gateway, the digest of its own register.
    private static func joined(in registers: [String: AuditRegister]) throws -> [String: String] {
        guard let register = registers[RegisterName.joined] else { return [:] }
        return try JSONDocument(parsing: register.value).root.decode()
    }

    /// Throws if a key that the gateway's own register has stopped would sign again.
    private static func compare(
        _ own: [String: AuditRegister], with shared: [String: AuditRegister], of fleet: FleetRegister
    ) throws {
        let (before, after) = (KeyStateCache(), KeyStateCache())
        try before.load(own, at: .now())
        try after.load(shared, at: .now())
        for record in before.records.values.sorted(by: { $0.keyID < $1.keyID }) {
            guard let other = after.records[record.keyID], let action = record.action(missingIn: other) else {
                continue
            }
            throw KeyLifecycleRefusal(
                "The key \(record.keyID) is \(record.state.rawValue) in the register of \(fleet.gateway)"
                    + (record.isCompromised && record.state != .compromised ? " and was compromised" : "")
                    + ", and \(other.state.rawValue) in that of the fleet. Give the order to another gateway of the fleet: "
                    + "privyseal keys \(action.rawValue) \(record.keyID) --reason \"…\". Then this one tries again.")
        }
    }

    // MARK: Effects

    /// Makes a recorded change apply to requests at its time. Requests that have selected a key before finish with it;
    /// requests that come meanwhile wait for them.
    private func apply(_ effect: (issuerID: String, time: Timestamp), in fleet: FleetRegister) {
        guard scheduled.withLock({ $0.insert(effect.time).inserted }) else { return }
        let life = stateCache.account(effect.issuerID)
        let rest = fleet.clock.remaining(until: effect.time)
        let isLate =
            fleet.clock.now.map { effect.time.milliseconds - $0.milliseconds < FleetClock.changeMilliseconds } ?? true
        if isLate {
            // Requests that have selected the old key must not get a signature any more. The new key waits until the
            // gateways that have not seen the change have stopped.
            life.pause()
            fleet.clock.end(effect.time)
            stateCache.publishEffects()
        }
        Task {
            try? await Task.sleep(for: rest)
            if !isLate {
                life.pause()
                _ = await life.drained(timeout: FleetClock.drainTimeout)
                while case let rest = fleet.clock.remaining(until: effect.time), rest > .zero {
                    try? await Task.sleep(for: rest)
                }
                stateCache.publishEffects()
            }
            life.open()
            scheduled.withLock { _ = $0.remove(effect.time) }
        }
    }

    // MARK: Leaving

    /// A database that does not answer must not delay the end of the process.
    func leave(_ fleet: FleetRegister) async {
        let ended = AsyncSignal()
        Task {
            let snapshot = gateway.current
            await snapshot.dispatcher.giveBackRequests(of: snapshot.clients.clients, isLast: true)
            await fleet.leave()
            ended.signal()
        }
        await ended.wait(atMost: .seconds(2))
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
        return FleetOverview(
            view, in: fleet, activations: stateCache.activations, fenced: stateCache.fencedGateways,
            refusedPINs: stateCache.refusedPINs)
    }
}

extension KeyLifecycleRecord {
    /// The next order after which `other`, a record of the same key, allows no more than this one; nil if it does not now.
    func action(missingIn other: KeyLifecycleRecord) -> KeyLifecycleAction? {
        if isCompromised, !other.isCompromised { return .compromise }
        if isFinal {
            guard !other.isFinal else { return nil }
            // The only active key of an account cannot be retired.
            return other.state == .active ? .suspend : .retire
        }
        return state == .suspended && (other.state.signs || other.state == .staged) ? .suspend : nil
    }

    /// Whether the key is retired or destroyed, or is again after `restore`.
    private var isFinal: Bool {
        let last = state == .compromised ? stateBeforeCompromise : state
        return last == .retired || last == .destroyed
    }
}
