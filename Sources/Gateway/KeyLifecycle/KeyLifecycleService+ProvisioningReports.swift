import AuditKit
import AuditLog
import Logging
public import Signing
import SigningKit

/// Reports of administrators that they have done a provisioning job.
extension KeyLifecycleService {
    /// Ends a job of the same administrator. The gateway looks at the key before it accepts success.
    public func finish(
        _ id: String, _ end: ProvisioningResult, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        try KeyLifecycleLimits.check(evidence: end.evidence)
        try requireLoaded()
        // Another report of the job can arrive during the look: of another place, or of a command that was killed.
        var looks = 0
        while true {
            looks += 1
            do throws(KeyLifecycleRefusal) { return try await finishUnlessChanged(id, end, by: actor) } catch {
                if let record = stateCache.records.values.first(where: { $0.hasEnded(id) }) { return .ended(record) }
                guard error.kind == .changed, looks < Self.looksForReport else { throw error }
            }
        }
    }

    private static let looksForReport = 3

    private func finishUnlessChanged(
        _ id: String, _ end: ProvisioningResult, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let before = try job(id, endedBy: actor)
        guard before.replicas.isEmpty else { return try await finishPlace(of: before, end, by: actor) }
        // Outside `inTurn`, because a token may hang.
        let facts = end.isSuccess ? try await facts(of: before, end, at: before.uri) : nil
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            var job = try job(id, endedBy: actor)
            guard end.isSuccess else { return try await fail(job, end, by: actor) }
            guard job == before else { throw Self.hasChanged(job.keyID) }
            (job.worker, job.report) = (actor.name, end)
            if let facts { return .ended(try await conclude(job, end, facts)) }
            try await set(job, isOpen: true, .reported, by: actor.name, end)
            return .waiting(job)
        }
    }

    /// Records a failure. The job stays open if the same command has to complete something: the result at another place,
    /// the work of another run, or the change of a token. Then it needs no further approval.
    ///
    /// - Parameter facts: further evidence for the entry.
    func fail(
        _ job: ProvisioningJob, _ end: ProvisioningResult, by actor: Administrator, facts: [String: String] = [:]
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        let isOpen = job.runs > 1 || !job.results.isEmpty || job.report != nil || end.mayHaveChanged == true
        try await set(job, isOpen: isOpen, .failed, by: actor.name, end, facts: facts)
        return isOpen ? .begun(job) : .ended(stateCache.records[job.keyID] ?? KeyLifecycleRecord(job, at: now))
    }

    /// - Parameter facts: further evidence for the entry.
    func set(
        _ job: ProvisioningJob, isOpen: Bool, _ event: KeyLifecycleEntry.Event, by actor: String,
        _ end: ProvisioningResult, facts: [String: String] = [:]
    ) async throws(KeyLifecycleRefusal) {
        var transaction = RegisterTransaction()
        let evidence = end.reported.merging(facts) { _, seen in seen }
        transaction.set(
            job, isOpen: isOpen, among: stateCache.jobs,
            KeyLifecycleEntry(job, event, by: actor, evidence: evidence))
        try await commit(transaction)
    }

    func job(
        _ id: String, endedBy actor: Administrator
    ) throws(KeyLifecycleRefusal) -> ProvisioningJob {
        guard let job = stateCache.jobs.first(where: { $0.id == id }) else {
            throw KeyLifecycleRefusal(.unknown, "There is no work \(id) on a token.")
        }
        guard job.workingPerson.isSamePerson(as: actor) else {
            throw KeyLifecycleRefusal(
                "\(job.worker) does this work, and has to end it. To take it over, run the same command as "
                    + "\(actor.name): a second administrator has to approve that.")
        }
        return job
    }

    static func hasChanged(_ keyID: String) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(
            .changed,
            "The state of \(keyID), or of the work on it, changed while the gateway looked at the key. Run the same "
                + "command again.")
    }

    /// Ends a job that was reported as done.
    ///
    /// - Parameter evidence: for the entry about the job's end.
    func conclude(
        _ job: ProvisioningJob, _ report: ProvisioningResult, _ facts: [String: String],
        evidence: [String: String] = [:]
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        // Record the state and the end of the job in one transaction.
        var transaction = RegisterTransaction()
        transaction.set(try ended(job, report, facts))
        transaction.set(
            job, isOpen: false, among: stateCache.jobs,
            KeyLifecycleEntry(job, .changed, by: job.worker, evidence: evidence))
        try await commit(transaction)
        return transaction.records[0]
    }

    /// What the gateway sees of the key at one place; nil if it cannot look yet.
    func facts(
        of job: ProvisioningJob, _ report: ProvisioningResult, at uri: String
    ) async throws(KeyLifecycleRefusal) -> [String: String]? {
        guard isServing else { return ["seenBy": "the command itself, while no gateway ran"] }
        if job.action == .destroy {
            try await requireAbsence(of: job.keyID, at: uri)
            if job.isLastPlace(uri) { try await requireAbsence(job) }
            return ["seenBy": "the gateway"]
        }
        let expected = job.fingerprint ?? report.fingerprint
        switch await gateway.current.ring.look(
            for: job.keyID, at: uri, isProofWanted: true, publicKey: report.publicKey(of: expected))
        {
        case .present(let found?, let facts) where found == expected:
            if job.action == .generate, facts["CKA_LOCAL"] == "false" {
                throw KeyLifecycleRefusal(
                    "The key at \(uri) was not generated by its token (CKA_LOCAL is false). Destroy it, and let "
                        + "the token generate another one.")
            }
            return facts.merging(["seenBy": "the gateway"]) { first, _ in first }
        case .present(let found, _):
            throw KeyLifecycleRefusal(
                "The key at \(uri) is a different one: its fingerprint is \(found?.description ?? "not known").")
        case .unfit(let reason):
            throw KeyLifecycleRefusal("The key at \(uri) did not sign a proof for the gateway: \(reason)")
        case .absent:
            throw KeyLifecycleRefusal("The gateway sees no key at \(uri). Run the same command again.")
        case .unavailable(let reason):
            logger.notice("The gateway cannot look at a key yet: \(reason)", metadata: ["keyId": "\(job.keyID)"])
            return nil
        case .unknownConnection: return nil
        }
    }

    /// The time between two rounds of looks. A round without a key to look at is cheap.
    static let lookInterval = Duration.seconds(1)
    /// The time between two rounds if a look of the first ended no job.
    static let lookPause = Duration.seconds(5)

    /// Ends jobs that were reported while the gateway could not look. It tries an unresponsive token once in a round,
    /// for any of its jobs.
    ///
    /// - Returns: whether a look ended no job.
    func concludeReports() async -> Bool {
        guard audit.writeState.isWritable else { return false }
        var (silent, areLeft) = ([BackendConnection](), false)
        let waiting = stateCache.jobs.shuffled().flatMap { job in
            job.unverifiedReports.map { (job: job, uri: $0.uri, report: $0.report) }
        }
        for (job, uri, report) in waiting {
            guard !Task.isCancelled, let connection = gateway.current.ring.connection(of: uri),
                !silent.contains(where: { $0 === connection })
            else { continue }
            let begun = ContinuousClock.now
            do throws(KeyLifecycleRefusal) {
                guard let facts = try await facts(of: job, report, at: uri) else {
                    silent.append(connection)
                    areLeft = true
                    continue
                }
                guard !Task.isCancelled else { return areLeft }
                try await inTurn { () throws(KeyLifecycleRefusal) in
                    guard stateCache.jobs.contains(job) else { return }
                    guard job.replicas.isEmpty else {
                        _ = try await accept(report, facts, at: uri, of: job)
                        return
                    }
                    _ = try await conclude(job, report, facts)
                }
            } catch {
                if error.kind == .unrecorded { return areLeft }
                if .now - begun >= Self.lookInterval { silent.append(connection) }
                areLeft = true
                logger.warning(
                    "Work on a token has not ended yet: \(error)",
                    metadata: ["keyId": "\(job.keyID)", "action": "\(job.action.rawValue)"])
            }
        }
        return areLeft
    }

    /// The key's record after a successful job.
    ///
    /// - Parameter facts: what the gateway saw. The administrator's report is stored with it, under names of its own.
    private func ended(
        _ job: ProvisioningJob, _ end: ProvisioningResult, _ facts: [String: String]
    ) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        if let expected = job.fingerprint, let found = end.fingerprint, expected != found {
            throw KeyLifecycleRefusal(
                "The work began with the key \(expected), but ended with another one, \(found).")
        }
        let context = ChangeContext(actor: job.actor, approver: job.approver, reason: job.reason)
        var evidence = end.reported.merging(facts) { _, seen in seen }
        evidence.merge(job.places) { _, place in place }
        evidence["endedBy"] = job.worker
        evidence["job"] = job.id
        var record = stateCache.records[job.keyID] ?? KeyLifecycleRecord(job, at: now)
        let isFirst = record.history.isEmpty
        switch job.action {
        case .destroy:
            if !isFirst { try rules.requireDestructible(record) }
            return Self.recorded(
                isFirst: isFirst, change(record, to: .destroyed, .destroy, context, evidence: evidence))
        case .generate: record.provenance = .generated
        default: record.provenance = .imported
        }
        record.fingerprint = job.fingerprint ?? end.fingerprint ?? record.fingerprint
        if let fingerprint = record.fingerprint { try rules.requireOwnKey(fingerprint, of: record.keyID) }
        // Another copy of a known key does not change its state.
        let isCopy = !isFirst && record.state != .destroyed
        var changed = change(record, to: isCopy ? record.state : .staged, job.action, context, evidence: evidence)
        if isCopy { (changed.since, changed.retireAt) = (record.since, record.retireAt) }
        return Self.recorded(isFirst: isFirst, changed)
    }

    /// A key whose first entry this is had no state before: `audit verify` compares the states of the entries.
    private static func recorded(isFirst: Bool, _ record: KeyLifecycleRecord) -> KeyLifecycleRecord {
        var record = record
        if isFirst { record.history[0].from = nil }
        return record
    }
}

extension KeyLifecycleRecord {
    /// The record of a key without history.
    init(_ job: ProvisioningJob, at time: Timestamp) {
        self.init(
            issuerID: job.issuerID, keyID: job.keyID, state: .staged, since: time,
            provenance: job.action == .generate ? .generated : .imported, fingerprint: job.fingerprint)
    }

    /// Whether a provisioning job with this ID has succeeded.
    public func hasEnded(_ job: String) -> Bool { history.contains { $0.evidence["job"] == job } }

    /// The places in the evidence of the last change that has a URI.
    var recordedURIs: [String] {
        guard let last = history.last(where: { $0.evidence["uri"] != nil })?.evidence else { return [] }
        let replicas = (1...KeySettings.mostReplicas).compactMap { last["replica.\($0).uri"] }
        return [last["uri"]].compactMap(\.self) + replicas
    }
}
