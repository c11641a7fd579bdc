import AuditKit
import AuditLog
import Logging
public import Signing
import SigningKit
import StrictJSON
import Synchronization

/// Provisioning jobs, which administrators carry out on tokens.
extension KeyLifecycleService {
    public func begin(
        _ order: ProvisioningOrder, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> ProvisioningAnswer {
        try Self.require(reason: order.reason)
        guard [.import, .generate, .destroy].contains(order.action) else {
            throw KeyLifecycleRefusal("\(order.action.rawValue) is not work on a token.")
        }
        let order = try order.checked()
        try requireLoaded()
        // Outside `inTurn`, because a token may hang.
        let look = try check(order) ? await look(at: order) : nil
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            if try check(order) { try requirePresence(order, look) }
            let known = stateCache.jobs.first { $0.keyID == order.keyID }
            let approved = try await approval(order, known, by: actor)
            if case .proposed(let proposal) = approved { return .proposed(proposal) }
            try await resetUnseenAdoption(order)
            let used: KeyProposal? = if case .approved(let proposal) = approved { proposal } else { nil }
            // The same order again continues its job.
            var job =
                if let known { known } else {
                    try ProvisioningJob(order, used, by: actor, in: stateCache.jobs, at: now)
                }
            (job.worker, job.workerProofs) = (actor.name, actor.proofs)
            job.report = nil
            // The administrator who approved a takeover must not carry out the job later.
            if known != nil, let person = used?.approvingPerson { job.approverProofs += person.identities }
            let jobs = stateCache.jobs.filter { $0.id != job.id } + [job]
            var begun = KeyLifecycleEntry(job, .begun, by: actor.name)
            begun.approver = used?.approver ?? begun.approver
            var registrations: [Registration] = [(begun, RegisterName.jobs, JSONText.encode(jobs))]
            // Close the proposal in the same transaction: an approval is valid once.
            if let used { registrations.append(registration(used, .approved, by: actor.name, isOpen: false)) }
            try await register(registrations)
            stateCache.set(
                proposals: used.map { used in stateCache.proposals.filter { $0.id != used.id } }, jobs: jobs)
            return .begun(job)
        }
    }

    /// - Returns: whether the gateway must see the key before the job begins.
    private func check(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) -> Bool {
        guard account(order.issuerID) != nil || stateCache.records[order.keyID] != nil else {
            throw KeyLifecycleRefusal(
                .unknown,
                "There is no account \(order.issuerID) in the configuration. Add it first, or correct the issuer ID.")
        }
        try rules.job(order, seen: handle(order.keyID)?.fingerprint)
        try requireProvisioning(order)
        return isServing && order.action == .destroy && !stateCache.jobs.contains { $0.keyID == order.keyID }
    }

    /// Throws unless the key backend can show the result afterwards. A key file cannot: the gateway holds its key in
    /// memory, and a missing file proves nothing about copies.
    private func requireProvisioning(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) {
        guard order.action != .import, let uri = try? KeyURI(order.uri),
            !(gateway.current.ring.type(for: uri.scheme) is any KeyProvisioning.Type)
        else { return }
        throw KeyLifecycleRefusal(
            order.action == .destroy
                ? "An order cannot destroy a \(uri.scheme): key. Retire \(order.keyID), remove it from the "
                    + "configuration, reload, and delete every copy of its file."
                : "An order cannot make a \(uri.scheme): key. Name a token, or import the key.")
    }

    private func look(at order: ProvisioningOrder) async -> ObservedKey {
        await gateway.current.ring.look(for: order.keyID, at: order.uri, isProofWanted: false)
    }

    /// Throws unless the order names the location of the key. Otherwise an absent key would count as destroyed.
    ///
    /// - Parameter look: nil if the state has changed since the check that decided against a look.
    private func requirePresence(_ order: ProvisioningOrder, _ look: ObservedKey?) throws(KeyLifecycleRefusal) {
        guard let look else { throw Self.hasChanged(order.keyID) }
        let known = stateCache.records[order.keyID]
        if let declared = handle(order.keyID)?.settings.uri, let uri = try? KeyURI(order.uri),
            !gateway.current.ring.isSameConnection(declared, uri)
        {
            throw KeyLifecycleRefusal(
                "The configuration names \(order.keyID) at \(declared), but the order has \(order.uri). An order must "
                    + "destroy a key where the gateway uses it. Give the URI of the configuration.")
        }
        try requireOwnURI(order)
        switch look {
        case .present(let found, _):
            if let found { try requireOwnKey(found, order) }
            let expected = known?.fingerprint ?? order.fingerprint
            guard let found, let expected, found != expected else { return }
            throw KeyLifecycleRefusal(
                "The key at \(order.uri) is not \(order.keyID): its fingerprint is \(found), not \(expected)."
            )
        case .unfit, .absent:
            let declared = handle(order.keyID)?.settings.uri
            let recorded = known?.history.last(where: { $0.evidence["uri"] != nil })?.evidence["uri"]
            let places = [declared, recorded.flatMap { try? KeyURI($0) }].compactMap(\.self)
            guard let uri = try? KeyURI(order.uri),
                places.contains(where: { gateway.current.ring.isSameKey($0, uri) })
            else {
                throw KeyLifecycleRefusal(
                    "The gateway sees no key at \(order.uri). Give the URI that the configuration has for \(order.keyID)."
                )
            }
        case .unavailable(let reason):
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but cannot look at \(order.uri): \(reason)")
        case .unknownConnection:
            throw KeyLifecycleRefusal(
                "The gateway must verify afterwards that the key is gone, but its configuration names no key on the "
                    + "token of \(order.uri). Add \(order.keyID) to the configuration and reload: privyseal reload.")
        }
    }

    /// Refuses to destroy a key under the ID of another one, because the rules are asked about the ID in the order.
    private func requireOwnURI(_ order: ProvisioningOrder) throws(KeyLifecycleRefusal) {
        let ring = gateway.current.ring
        guard let uri = try? KeyURI(order.uri) else { return }
        let handles = ring.handles.filter { ring.isSameKey($0.settings.uri, uri) }
        guard let other = handles.first(where: { $0.settings.keyID != order.keyID }) else { return }
        guard handles.contains(where: { $0.settings.keyID == order.keyID }) else {
            throw Self.isAnother(other.settings.keyID, order)
        }
        // The configuration gives one key two IDs, and both lose it.
        if let record = stateCache.records[other.settings.keyID] { try requireNotInUse(record) }
    }

    private func requireOwnKey(_ found: PublicKeyFingerprint, _ order: ProvisioningOrder) throws(KeyLifecycleRefusal) {
        let records = rules.records
        let isKnown = records[order.keyID]?.fingerprint == found
        for record in records.values where record.fingerprint == found && record.keyID != order.keyID {
            guard isKnown else { throw Self.isAnother(record.keyID, order) }
            try requireNotInUse(record)
        }
    }

    private func requireNotInUse(_ record: KeyLifecycleRecord) throws(KeyLifecycleRefusal) {
        if record.state != .destroyed { try rules.requireDestructible(record) }
    }

    private static func isAnother(_ keyID: String, _ order: ProvisioningOrder) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(
            "The key at \(order.uri) is \(keyID), not \(order.keyID). Destroy it under its own ID: privyseal keys destroy "
                + "\(keyID).")
    }

    /// Changes a key that was adopted as retiring, but never seen, to staged: it was not in use until now.
    private func resetUnseenAdoption(_ order: ProvisioningOrder) async throws(KeyLifecycleRefusal) {
        guard order.action != .destroy, let known = stateCache.records[order.keyID], known.state == .retiring,
            known.fingerprint == nil, known.history.allSatisfy({ $0.action == .adopt }),
            handle(order.keyID)?.publicKey == nil
        else { return }
        let context = ChangeContext(
            actor: Self.gatewayName, reason: "The configuration named it before it was brought in.")
        _ = try await record([change(known, to: .staged, .adopt, context)])
    }

    private enum Approval {
        case notNeeded
        case approved(KeyProposal)
        case proposed(KeyProposal)
    }

    private func approval(
        _ order: ProvisioningOrder, _ known: ProvisioningJob?, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> Approval {
        // The administrator who does the work needs no approval to continue. A takeover by another one needs approval.
        if let known, known.workingPerson.isSamePerson(as: actor) { return .notNeeded }
        guard hasDualControl(order.issuerID) || known != nil else { return .notNeeded }
        try require(actor, inAccount: order.issuerID)
        if let approver = known?.approvingPerson, approver.isSamePerson(as: actor) { throw Self.isApprover(actor) }
        var details = order.details
        if let known { details["takesOver"] = known.id }
        if let approved = stateCache.proposals.first(where: {
            $0.isFor(order.action, issuerID: order.issuerID, keyID: order.keyID, details: details) && $0.approver != nil
                && !isOver($0)
        }) {
            try requireStanding(of: approved)
            if approved.approvingPerson?.isSamePerson(as: actor) == true { throw Self.isApprover(actor) }
            guard known == nil || approved.proposingPerson.isSamePerson(as: actor) else {
                throw KeyLifecycleRefusal("\(approved.proposer) proposed to take over the work, and has to do it.")
            }
            return .approved(approved)
        }
        return .proposed(
            try await propose(
                order.action, issuerID: order.issuerID, keyID: order.keyID, details: details, reason: order.reason,
                by: actor))
    }

    private static func isApprover(_ actor: Administrator) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(
            "\(actor.name) approved this work, and may not carry it out. Another administrator has to do that.")
    }

    /// Ends a job of the same administrator. The gateway looks at the key before it accepts success.
    public func finish(
        _ id: String, _ end: ProvisioningResult, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> ProvisioningOutcome {
        try KeyLifecycleLimits.check(evidence: end.evidence)
        try requireLoaded()
        let before = try job(id, endedBy: actor)
        // Outside `inTurn`, because a token may hang.
        let facts = end.isSuccess ? try await facts(of: before, end) : nil
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            var job = try job(id, endedBy: actor)
            guard end.isSuccess else {
                try await set(stateCache.jobs.filter { $0.id != id }, .failed, job, by: actor.name, end.reported)
                return .ended(stateCache.records[job.keyID] ?? KeyLifecycleRecord(job, at: now))
            }
            guard job == before else { throw Self.hasChanged(job.keyID) }
            job.worker = actor.name
            job.report = end
            if let facts { return .ended(try await conclude(job, end, facts)) }
            let jobs = stateCache.jobs.map { $0.id == id ? job : $0 }
            try await set(jobs, .reported, job, by: actor.name, end.reported)
            return .waiting(job)
        }
    }

    private func job(
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

    private static func hasChanged(_ keyID: String) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(
            "The state of \(keyID), or of the work on it, changed while the gateway looked at the key. Run the same command again."
        )
    }

    /// Ends a job that was reported as done.
    private func conclude(
        _ job: ProvisioningJob, _ report: ProvisioningResult, _ facts: [String: String]
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let others = stateCache.jobs.filter { $0.id != job.id }
        let record = try ended(job, report, facts).limited()
        let entry = KeyLifecycleEntry(job, .changed, by: job.worker)
        // Record the state and the end of the job in one transaction.
        try await register([
            (record.lifecycleEntry, RegisterName.key(record.keyID), JSONText.encode(record)),
            (entry, RegisterName.jobs, JSONText.encode(others)),
        ])
        stateCache.set([record], jobs: others)
        return record
    }

    /// What the gateway sees of the key; nil if it cannot look yet.
    private func facts(
        of job: ProvisioningJob, _ report: ProvisioningResult
    ) async throws(KeyLifecycleRefusal) -> [String: String]? {
        guard isServing else { return ["seenBy": "the command itself, while no gateway ran"] }
        let isDestruction = job.action == .destroy
        let look = await gateway.current.ring.look(
            for: job.keyID, at: job.uri, isProofWanted: !isDestruction,
            publicKey: report.publicKey(of: job.fingerprint ?? report.fingerprint))
        switch look {
        case .present(let found, let facts):
            guard !isDestruction else {
                throw KeyLifecycleRefusal("The gateway still sees a key at \(job.uri). Run the same command again.")
            }
            guard let found, found == job.fingerprint ?? report.fingerprint else {
                throw KeyLifecycleRefusal(
                    "The key at \(job.uri) is a different one: its fingerprint is "
                        + "\(found.map { "\($0)" } ?? "not known").")
            }
            if job.action == .generate, facts["CKA_LOCAL"] == "false" {
                throw KeyLifecycleRefusal(
                    "The key at \(job.uri) was not generated by its token (CKA_LOCAL is false). Destroy it, and let "
                        + "the token generate another one.")
            }
            return facts.merging(["seenBy": "the gateway"]) { first, _ in first }
        case .unfit(let reason):
            throw KeyLifecycleRefusal(
                isDestruction
                    ? "The gateway still sees an object at \(job.uri): \(reason) Run the same command again."
                    : "The key at \(job.uri) did not sign a proof for the gateway: \(reason)")
        case .absent:
            guard isDestruction else {
                throw KeyLifecycleRefusal("The gateway sees no key at \(job.uri). Run the same command again.")
            }
            try await requireAbsence(job)
            return ["seenBy": "the gateway"]
        case .unavailable(let reason):
            guard !isDestruction else {
                throw KeyLifecycleRefusal(
                    "The gateway cannot look at \(job.uri): \(reason) Run the same command again later.")
            }
            logger.notice("The gateway cannot look at a key yet: \(reason)", metadata: ["keyId": "\(job.keyID)"])
            return nil
        case .unknownConnection:
            guard !isDestruction else {
                throw KeyLifecycleRefusal(
                    "The gateway's configuration names no key on the token of \(job.uri), so the gateway cannot verify "
                        + "that \(job.keyID) is gone. Add a key on it, reload, and run the same command again.")
            }
            return nil
        }
    }

    /// The time between two rounds. A round without a key to look at is cheap.
    static let lookInterval = Duration.seconds(1)

    /// Ends jobs that were reported while the gateway could not look. It tries an unresponsive token once in a round.
    func concludeReports() async {
        guard audit.state.isWritable else { return }
        var silent: [BackendConnection] = []
        for job in reportedJobs.round(of: stateCache.jobs.filter { $0.report != nil }) {
            guard !Task.isCancelled, let report = job.report,
                let connection = gateway.current.ring.connection(of: job.uri),
                !silent.contains(where: { $0 === connection })
            else { continue }
            let begun = ContinuousClock.now
            do throws(KeyLifecycleRefusal) {
                guard let facts = try await facts(of: job, report) else {
                    silent.append(connection)
                    reportedJobs.postpone()
                    continue
                }
                guard !Task.isCancelled else { return }
                try await inTurn { () throws(KeyLifecycleRefusal) in
                    guard stateCache.jobs.contains(job) else { return }
                    _ = try await conclude(job, report, facts)
                }
            } catch {
                if error.kind == .unrecorded { return }
                if .now - begun >= Self.lookInterval { silent.append(connection) }
                reportedJobs.postpone()
                logger.warning(
                    "Work on a token has not ended yet: \(error)",
                    metadata: ["keyId": "\(job.keyID)", "action": "\(job.action.rawValue)"])
            }
        }
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
        evidence["uri"] = job.uri
        evidence["endedBy"] = job.worker
        var record = stateCache.records[job.keyID] ?? KeyLifecycleRecord(job, at: now)
        let isFirst = record.history.isEmpty
        switch job.action {
        case .destroy:
            if !isFirst { try rules.requireDestructible(record) }
            return change(record, to: .destroyed, .destroy, context, evidence: evidence)
        case .generate: record.provenance = .generated
        default: record.provenance = .imported
        }
        record.fingerprint = job.fingerprint ?? end.fingerprint ?? record.fingerprint
        if let fingerprint = record.fingerprint { try rules.requireOwnKey(fingerprint, of: record.keyID) }
        // Another copy of a known key does not change its state.
        let isCopy = !isFirst && record.state != .destroyed
        var changed = change(record, to: isCopy ? record.state : .staged, job.action, context, evidence: evidence)
        if isCopy { (changed.since, changed.retireAt) = (record.since, record.retireAt) }
        if isFirst { changed.history[0].from = nil }
        return changed
    }

    private func set(
        _ jobs: [ProvisioningJob], _ event: KeyLifecycleEntry.Event, _ job: ProvisioningJob, by actor: String,
        _ evidence: [String: String]
    ) async throws(KeyLifecycleRefusal) {
        var entry = KeyLifecycleEntry(job, event, by: actor)
        entry.evidence.merge(evidence) { _, new in new }
        try await register([(entry, RegisterName.jobs, JSONText.encode(jobs))])
        stateCache.set(jobs: jobs)
    }
}

extension ProvisioningJob {
    /// - Throws: a refusal if too many jobs are open.
    fileprivate init(
        _ order: ProvisioningOrder, _ approved: KeyProposal?, by actor: Administrator, in open: [ProvisioningJob],
        at time: Timestamp
    ) throws(KeyLifecycleRefusal) {
        let own = open.filter { $0.workingPerson.isSamePerson(as: actor) }
        guard open.count < KeyLifecycleLimits.jobs, own.count < KeyLifecycleLimits.jobsOfOne else {
            throw KeyLifecycleRefusal(
                "\(own.count) jobs of \(actor.name) on tokens have begun but not ended, \(open.count) in all; at most "
                    + "\(KeyLifecycleLimits.jobsOfOne) and \(KeyLifecycleLimits.jobs) are allowed. End one first.")
        }
        self.init(
            id: KeyLifecycleService.newID(), action: order.action, issuerID: order.issuerID, keyID: order.keyID,
            uri: order.uri,
            fingerprint: order.fingerprint, reason: approved?.reason ?? order.reason,
            actor: approved?.proposer ?? actor.name,
            approver: approved?.approver, approverProofs: approved?.approverProofs ?? [], worker: actor.name,
            workerProofs: actor.proofs, begun: time)
    }
}

extension ProvisioningOrder {
    /// Checks the limits, and removes from the URI all attributes that lead to a secret.
    fileprivate func checked() throws(KeyLifecycleRefusal) -> ProvisioningOrder {
        try KeyLifecycleLimits.check(issuerID, "issuer ID", atMost: KeyLifecycleLimits.identifier)
        try KeyLifecycleLimits.check(keyID, "key ID", atMost: KeyLifecycleLimits.identifier)
        try KeyLifecycleLimits.check(uri, "URI", atMost: KeyLifecycleLimits.uri)
        var order = self
        do throws(KeyError) { order.uri = "\(try KeyURI(uri))" } catch { throw KeyLifecycleRefusal("\(error)") }
        return order
    }

    /// Whether the order continues the job. The content must be the same, because an approved job must not change.
    func isSameWork(as job: ProvisioningJob) -> Bool {
        job.action == action && job.keyID.hasSameBytes(as: keyID)
            && job.issuerID.hasSameBytes(as: issuerID) && job.uri.hasSameBytes(as: uri)
            && (job.fingerprint == fingerprint || action == .destroy)
    }

    /// The details that an approval covers.
    var details: [String: String] {
        var details = ["uri": uri]
        if let fingerprint { details["fingerprint"] = fingerprint.description }
        return details
    }
}

extension KeyLifecycleEntry {
    init(_ job: ProvisioningJob, _ event: Event, by actor: String) {
        self.init(
            event, action: job.action.rawValue, issuerID: job.issuerID, keyID: job.keyID, actor: actor,
            approver: job.approver, reason: job.reason, fingerprint: job.fingerprint?.description,
            id: job.id, evidence: ["uri": job.uri])
    }
}

extension KeyLifecycleRecord {
    /// The record of a key without history.
    init(_ job: ProvisioningJob, at time: Timestamp) {
        self.init(
            issuerID: job.issuerID, keyID: job.keyID, state: .staged, since: time,
            provenance: job.action == .generate ? .generated : .imported, fingerprint: job.fingerprint)
    }
}

/// The schedule for looks at jobs that were reported as done.
final class ReportedJobs: Sendable {
    /// The pause after a look that ended no job.
    private static let pause = Duration.seconds(5)

    private struct State {
        var next = ContinuousClock.now
        var rounds = 0
    }

    private let state = Mutex(State())

    /// Begins a round of looks, unless it is too early for one.
    ///
    /// - Returns: the jobs, rotated each round: only the first job of a token that does not answer is looked at.
    func round<Job: Sendable>(of jobs: [Job]) -> [Job] {
        guard !jobs.isEmpty else { return [] }
        return state.withLock { state in
            guard state.next <= .now else { return [] }
            state.rounds += 1
            let first = state.rounds % jobs.count
            return Array(jobs[first...] + jobs[..<first])
        }
    }

    func postpone() { state.withLock { $0.next = .now + Self.pause } }
}
