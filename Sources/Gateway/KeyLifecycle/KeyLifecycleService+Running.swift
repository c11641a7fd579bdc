import AuditKit
import AuditLog
import Logging
import ServiceLifecycle
import Signing
import SigningKit
import Synchronization

/// The course of the service, and what it records without an order.
extension KeyLifecycleService {
    /// Records adopted keys, retires keys at their `retireAt`, and closes expired proposals.
    public func run() async throws {
        // No task waits for this one: a token that hangs must not delay retirements or the last stops.
        let looks = Task {
            while !Task.isCancelled {
                let areLeft = await concludeReports()
                try? await Task.sleep(for: areLeft ? Self.lookPause : Self.lookInterval)
            }
        }
        let following = Task {
            guard let fleet else { return }
            await withTaskGroup { group in
                group.addTask { await self.follow(fleet) }
                group.addTask { await self.giveBackRequests() }
            }
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.processDeadlines()
                self.logDifferences()
                await self.signal.wait(atMost: self.untilNext)
            }
        }
        looks.cancel()
        following.cancel()
        for monitor in activationMonitors.withLock({ $0.values }) { monitor.cancel() }
        // The last configuration may have changed persons a moment ago.
        await processDeadlines()
        await recordLastStops()
        if let fleet { await leave(fleet) }
    }

    private var untilNext: Duration {
        let deadlines = stateCache.records.values.filter { $0.state == .retiring }.compactMap(stateCache.deadline(of:))
        guard let next = deadlines.map(audit.clock.remaining).min() else { return .seconds(1) }
        return min(.seconds(1), max(.milliseconds(5), next))
    }

    /// Call it before changes while no gateway runs.
    public func prepare() async throws(KeyLifecycleRefusal) {
        // Check the log first: the register may not be loaded.
        if case .unwritable(let error) = audit.writeState { throw Self.unrecorded(error) }
        try await inTurn { () throws(KeyLifecycleRefusal) in
            try await forgetExpiredProposals()
        }
    }

    /// Retires keys and closes expired proposals. The next call retries what could not be recorded.
    func processDeadlines() async {
        guard audit.writeState.isWritable else { return }
        _ = try? await inTurn { () throws(KeyLifecycleRefusal) in
            for record in stateCache.records.values where record.state == .retiring {
                guard let deadline = stateCache.deadline(of: record), isOver(deadline) else { continue }
                let context = ChangeContext(
                    actor: Self.gatewayName, reason: "The time at which it was to retire has come.")
                _ = try await self.record([change(record, to: .retired, .expire, context)])
            }
            try await forgetExpiredProposals()
        }
    }

    /// Logs each difference between configuration and register once, until it has ended. A reload or an order can cause
    /// one that makes a key useless.
    private func logDifferences() {
        let isDue = differencesSeen.withLock { last in
            if let last, .now - last < .seconds(1) { return false }
            last = .now
            return true
        }
        guard isDue, stateCache.isLoaded else { return }
        let differences = overview().differences
        let known = loggedDifferences.withLock { known in
            defer { known = Set(differences) }
            return known
        }
        for difference in differences where !known.contains(difference) { logger.warning("\(difference)") }
    }

    /// Records adopted keys that are not in the register yet.
    func recordAdoptions() async throws(KeyLifecycleRefusal) {
        let registers = audit.registers
        let adopted = rules.records.values.filter { registers[RegisterName.key($0.keyID)] == nil }
        guard !adopted.isEmpty else { return }
        // Use the current time, because the adoptions are older than other entries, and entry times must ascend.
        _ = try await record(adopted.sorted { $0.keyID < $1.keyID }, at: now)
    }

    /// Records what the configuration has added to the persons of open proposals and jobs. A later configuration may not
    /// show any more that these are the same persons.
    func recordIdentities() async throws(KeyLifecycleRefusal) {
        let recorded = KeyStateCache()
        let registers = audit.registers.filter { $0.key == RegisterName.jobs || $0.key.hasPrefix("proposal") }
        guard !stateCache.proposals.isEmpty || !stateCache.jobs.isEmpty,
            (try? recorded.load(registers, at: now)) != nil
        else { return }
        var transaction = RegisterTransaction()
        for proposal in stateCache.proposals where !recorded.proposals.contains(proposal) {
            transaction.set(proposal, isOpen: true, among: stateCache.proposals, .identified, by: Self.gatewayName)
        }
        for job in stateCache.jobs where !recorded.jobs.contains(job) {
            transaction.set(
                job, isOpen: true, among: stateCache.jobs, KeyLifecycleEntry(job, .identified, by: Self.gatewayName))
        }
        if !transaction.registrations.isEmpty { try await commit(transaction) }
    }
}
