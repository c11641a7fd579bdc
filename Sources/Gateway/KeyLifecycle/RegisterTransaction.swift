import AuditKit
import AuditLog
import Logging
import Signing
import SigningKit
import StrictJSON
import Synchronization

/// New values of registers with their audit entries. The log commits all of them together, or none.
struct RegisterTransaction {
    private(set) var registrations: [(record: KeyLifecycleEntry, name: String, value: [UInt8])] = []
    private(set) var records: [KeyLifecycleRecord] = []
    /// All open proposals after the transaction; nil if it changes none.
    private(set) var proposals: [KeyProposal]?
    /// All open jobs after the transaction; nil if it changes none.
    private(set) var jobs: [ProvisioningJob]?

    /// When the transaction must have begun; nil for no limit.
    var latest: ContinuousClock.Instant?

    /// The new values by name.
    var values: [String: [UInt8]] {
        Dictionary(registrations.map { ($0.name, $0.value) }) { _, last in last }
    }

    /// Opens or closes an activation of the fleet.
    ///
    /// - Parameter open: the open activations before.
    mutating func set(
        _ activation: FleetActivation, isOpen: Bool, among open: [FleetActivation], _ entry: KeyLifecycleEntry
    ) {
        let all = open.filter { $0.id != activation.id } + (isOpen ? [activation] : [])
        registrations.append((entry, RegisterName.activations, JSONText.encode(all)))
    }

    /// - Parameter fenced: the gateways that are fenced before.
    mutating func set(_ gateway: FencedGateway, among fenced: [FencedGateway], _ entry: KeyLifecycleEntry) {
        let all = fenced.filter { $0.origin != gateway.origin } + [gateway]
        registrations.append((entry, RegisterName.fenced, JSONText.encode(all)))
    }

    /// - Parameter refused: all refused PINs after the transaction.
    mutating func set(_ refused: [RefusedPIN], _ entry: KeyLifecycleEntry) {
        registrations.append((entry, RegisterName.refusedPINs, JSONText.encode(refused)))
    }

    /// - Parameter entry: nil for the entry of the record's last change.
    mutating func set(_ record: KeyLifecycleRecord, _ entry: KeyLifecycleEntry? = nil) {
        let record = record.limited()
        records.append(record)
        registrations.append((entry ?? record.lifecycleEntry, RegisterName.key(record.keyID), JSONText.encode(record)))
    }

    /// Opens, changes or closes a proposal. Closed in the transaction of its change, an approval is valid once.
    ///
    /// - Parameter open: the open proposals before.
    mutating func set(
        _ proposal: KeyProposal, isOpen: Bool, among open: [KeyProposal], _ event: KeyLifecycleEntry.Event,
        by actor: String
    ) {
        let all = open.filter { $0.id != proposal.id } + (isOpen ? [proposal] : [])
        proposals = all
        let entry = KeyLifecycleEntry(proposal, event, by: actor)
        if let number = proposal.registerNumber {
            // The register of a proposal that is no longer open is `null`.
            registrations.append((entry, RegisterName.proposal(number), JSONText.encode(isOpen ? proposal : nil)))
        } else {
            // Earlier versions kept all proposals in one list. It only gets shorter.
            let list = all.filter { $0.registerNumber == nil }
            registrations.append((entry, RegisterName.proposals, JSONText.encode(list)))
        }
    }

    /// Opens, changes or closes a job.
    ///
    /// - Parameter open: the open jobs before.
    mutating func set(
        _ job: ProvisioningJob, isOpen: Bool, among open: [ProvisioningJob], _ entry: KeyLifecycleEntry
    ) {
        let all = open.filter { $0.id != job.id } + (isOpen ? [job] : [])
        jobs = all
        registrations.append((entry, RegisterName.jobs, JSONText.encode(all)))
    }
}

extension KeyLifecycleService {
    /// Commits the transaction, and then applies it.
    ///
    /// - Parameter time: the time of the entries; nil for now.
    func commit(_ transaction: RegisterTransaction, at time: Timestamp? = nil) async throws(KeyLifecycleRefusal) {
        guard !needsReload.withLock({ $0 }) else {
            // A value from the older state in memory would overwrite the register.
            throw KeyLifecycleRefusal(
                .unrecorded,
                "The register may or may not have the last change; the gateway checks when it can write the audit log.")
        }
        if case .unwritable(let error) = audit.writeState {
            audit.noteRefused(error, count: 1)
            throw Self.unrecorded(error)
        }
        for (_, name, value) in transaction.registrations { try Self.requireReadable(name, value) }
        stateCache.noteDeadlines(transaction.records, transaction.proposals ?? [], at: audit.clock.stepped)
        let basis = turnValues.withLock { $0 }
        do throws(AuditError) {
            try await audit.register(
                transaction.registrations, at: time ?? now, basis: basis, latest: transaction.latest)
        } catch {
            // The commit may have succeeded although it reported an error.
            needsReload.withLock { $0 = true }
            switch error {
            case .closed: throw Self.unrecorded(error)
            case .superseded:
                throw KeyLifecycleRefusal(
                    .superseded,
                    "Other gateways changed the register at the same time, again and again. Nothing has changed; run the "
                        + "same command again.")
            case .unavailable, .halted, .overdue:
                throw KeyLifecycleRefusal(
                    .unrecorded,
                    "The change may or may not be recorded. \(error) Look at privyseal keys states when the gateway can "
                        + "write the log again.")
            }
        }
        turnValues.withLock { $0.merge(transaction.values) { $1 } }
        guard let fleet else {
            return stateCache.set(
                transaction.records, proposals: transaction.proposals, jobs: transaction.jobs,
                values: transaction.values)
        }
        // Another gateway may have changed the register since. Its changes must stay.
        needsReload.withLock { $0 = true }
        catchUp()
        fleet.wake.signal()
    }

    /// Commits the last change of each key, and logs it.
    ///
    /// - Parameters:
    ///   - time: the time of the entries; nil for the time of the last change.
    ///   - proposal: the proposal that the change closes.
    func record(
        _ changed: [KeyLifecycleRecord], at time: Timestamp? = nil, fulfilling proposal: KeyProposal? = nil
    ) async throws(KeyLifecycleRefusal) -> [KeyLifecycleRecord] {
        var transaction = RegisterTransaction()
        for record in changed { transaction.set(record) }
        if let proposal {
            let approver = changed.first?.history.last?.approver ?? ""
            transaction.set(proposal, isOpen: false, among: stateCache.proposals, .approved, by: approver)
        }
        try await commit(transaction, at: time ?? changed.last?.history.last?.time)
        for record in transaction.records {
            logger.notice(
                "The key is \(record.state.rawValue)",
                metadata: ["keyId": "\(record.keyID)", "action": "\(record.history.last?.action.rawValue ?? "")"])
        }
        signal.signal()
        return transaction.records
    }

    static func unrecorded(_ error: AuditError) -> KeyLifecycleRefusal {
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
}

extension KeyLifecycleRecord {
    /// The entry for the last change.
    var lifecycleEntry: KeyLifecycleEntry {
        let change = history.last
        return KeyLifecycleEntry(
            .changed, action: change?.action.rawValue ?? "", issuerID: issuerID, keyID: keyID,
            actor: change?.actor ?? "", approver: change?.approver, reason: change?.reason,
            from: change?.from?.rawValue, to: state.rawValue, retireAt: retireAt,
            fingerprint: fingerprint?.description, evidence: change?.evidence ?? [:])
    }
}

extension KeyLifecycleEntry {
    init(_ proposal: KeyProposal, _ event: Event, by actor: String) {
        self.init(
            event, action: proposal.action.rawValue, issuerID: proposal.issuerID, keyID: proposal.keyID, actor: actor,
            reason: proposal.reason, id: proposal.id,
            evidence: proposal.details.merging(["proposal": proposal.digest]) { detail, _ in detail })
    }

    init(_ job: ProvisioningJob, _ event: Event, by actor: String, evidence: [String: String] = [:]) {
        self.init(
            event, action: job.action.rawValue, issuerID: job.issuerID, keyID: job.keyID, actor: actor,
            approver: job.approver, reason: job.reason, fingerprint: job.fingerprint?.description,
            id: job.id, evidence: job.places.merging(evidence) { _, new in new })
    }
}
