import AuditKit
import Logging
import SigningKit
import StrictJSON
import Synchronization

/// Work on tokens, which others do: it is recorded before it begins and after it has ended, so that what a crash leaves half
/// done is known.
extension KeyOffice {
    public func begin(
        _ order: KeyCeremonyOrder, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyCeremonyAnswer {
        try Self.require(reason: order.reason)
        guard [.import, .generate, .destroy].contains(order.action) else {
            throw KeyLifeRefusal("\(order.action.rawValue) is no work on a token.")
        }
        let order = try order.checked()
        try requireLoaded()
        // Before the turn, since a token may hang.
        let look = try check(order) ? await look(at: order) : nil
        return try await inTurn { () throws(KeyLifeRefusal) in
            if try check(order) { try requirePresence(order, look) }
            let known = board.ceremonies.first { $0.keyID == order.keyID }
            let approved = try await approval(order, known, by: actor)
            if case .proposed(let proposal) = approved { return .proposed(proposal) }
            try await disown(order)
            let used: KeyProposal? = if case .approved(let proposal) = approved { proposal } else { nil }
            // The same work again goes on where it was left.
            var ceremony =
                if let known { known } else {
                    try KeyCeremony(order, used, by: actor, in: board.ceremonies, at: now)
                }
            (ceremony.worker, ceremony.workerProofs) = (actor.name, actor.proofs)
            ceremony.report = nil
            // Neither may the administrator who approved that the work is taken over carry it out later.
            if known != nil, let person = used?.approvingPerson { ceremony.approverProofs += person.identities }
            let ceremonies = board.ceremonies.filter { $0.id != ceremony.id } + [ceremony]
            var begun = LifeRecord(ceremony, .begun, by: actor.name)
            begun.approver = used?.approver ?? begun.approver
            var told: [Registration] = [(begun, RegisterName.ceremonies, JSONWriter.list(ceremonies))]
            // In the same transaction: an approval is good for once.
            if let used { told.append(registration(used, .approved, by: actor.name, isOpen: false)) }
            try await register(told)
            board.set(
                proposals: used.map { used in board.proposals.filter { $0.id != used.id } }, ceremonies: ceremonies)
            return .begun(ceremony)
        }
    }

    /// - Returns: whether the gateway has to see the key before the work may begin.
    private func check(_ order: KeyCeremonyOrder) throws(KeyLifeRefusal) -> Bool {
        guard account(order.issuerID) != nil || board.records[order.keyID] != nil else {
            throw KeyLifeRefusal(
                .unknown,
                "There is no account \(order.issuerID) in the configuration. Add it first, or mend the issuer ID.")
        }
        try rules.ceremony(order, seen: slot(order.keyID)?.fingerprint)
        try requireProvisioning(order)
        return isServing && order.action == .destroy && !board.ceremonies.contains { $0.keyID == order.keyID }
    }

    private func look(at order: KeyCeremonyOrder) async -> KeyLook {
        await gateway.current.ring.look(for: order.keyID, at: order.uri, isProofWanted: false)
    }

    /// The key of a destruction has to be where the order says: else a key that was never there counts as destroyed.
    ///
    /// - Parameter look: nil where the state changed before the gateway could look.
    private func requirePresence(_ order: KeyCeremonyOrder, _ look: KeyLook?) throws(KeyLifeRefusal) {
        guard let look else { throw Self.hasChanged(order.keyID) }
        let known = board.records[order.keyID]
        if let declared = slot(order.keyID)?.plan.uri, let uri = try? KeyURI(order.uri),
            !gateway.current.ring.isSamePlace(declared, uri)
        {
            throw KeyLifeRefusal(
                "The configuration names \(order.keyID) at \(declared), and the order at \(order.uri). A key is destroyed where the "
                    + "gateway uses it. Give the URI of the configuration.")
        }
        try requireOwnURI(order)
        switch look {
        case .present(let found, _):
            if let found { try requireOwnKey(found, order) }
            let expected = known?.fingerprint ?? order.fingerprint
            guard let found, let expected, found != expected else { return }
            throw KeyLifeRefusal(
                "The key at \(order.uri) is another one than \(order.keyID): its fingerprint is \(found), not \(expected)."
            )
        case .unfit, .absent:
            let declared = slot(order.keyID)?.plan.uri
            let recorded = known?.history.last(where: { $0.evidence["uri"] != nil })?.evidence["uri"]
            let places = [declared, recorded.flatMap { try? KeyURI($0) }].compactMap(\.self)
            guard let uri = try? KeyURI(order.uri),
                places.contains(where: { gateway.current.ring.isSameKey($0, uri) })
            else {
                throw KeyLifeRefusal(
                    "The gateway sees no key at \(order.uri). Give the URI that the configuration has for \(order.keyID)."
                )
            }
        case .unavailable(let reason):
            throw KeyLifeRefusal(
                "The gateway has to see afterwards that the key is gone, and cannot look at \(order.uri): \(reason)")
        case .unknownPlace:
            throw KeyLifeRefusal(
                "The gateway has to see afterwards that the key is gone, and its configuration names no key on the token of "
                    + "\(order.uri). Add \(order.keyID) to the configuration and reload: privyseal reload.")
        }
    }

    /// Refuses to destroy a key under the ID of another one: the rules would not be asked about the key that is there.
    private func requireOwnURI(_ order: KeyCeremonyOrder) throws(KeyLifeRefusal) {
        guard let uri = try? KeyURI(order.uri) else { return }
        let there = gateway.current.ring.slots.filter { gateway.current.ring.isSameKey($0.plan.uri, uri) }
        guard let other = there.first(where: { $0.plan.keyID != order.keyID }) else { return }
        guard there.contains(where: { $0.plan.keyID == order.keyID }) else {
            throw Self.isAnother(other.plan.keyID, order)
        }
        // The configuration gives one key two IDs. Both lose it.
        if let record = board.records[other.plan.keyID] { try requireNotInUse(record) }
    }

    private func requireOwnKey(_ found: PublicKeyFingerprint, _ order: KeyCeremonyOrder) throws(KeyLifeRefusal) {
        let records = rules.records
        let isKnown = records[order.keyID]?.fingerprint == found
        for record in records.values where record.fingerprint == found && record.keyID != order.keyID {
            guard isKnown else { throw Self.isAnother(record.keyID, order) }
            try requireNotInUse(record)
        }
    }

    private func requireNotInUse(_ record: KeyLifeRecord) throws(KeyLifeRefusal) {
        if record.state != .destroyed { try rules.requireDestructible(record) }
    }

    private static func isAnother(_ keyID: String, _ order: KeyCeremonyOrder) -> KeyLifeRefusal {
        KeyLifeRefusal(
            "The key at \(order.uri) is \(keyID), not \(order.keyID). Destroy it under its own ID: privyseal keys destroy \(keyID)."
        )
    }

    /// A key that was adopted for its place in the configuration, and that nobody has seen, was not in use: it comes in only now.
    private func disown(_ order: KeyCeremonyOrder) async throws(KeyLifeRefusal) {
        guard order.action != .destroy, let known = board.records[order.keyID], known.state == .retiring,
            known.fingerprint == nil, known.history.allSatisfy({ $0.action == .adopt }),
            slot(order.keyID)?.publicKey == nil
        else { return }
        let hand = Hand(actor: Self.gatewayName, reason: "The configuration named it before it was brought in.")
        _ = try await record([change(known, to: .staged, .adopt, hand)])
    }

    private enum Approval {
        case notNeeded
        case approved(KeyProposal)
        case proposed(KeyProposal)
    }

    private func approval(
        _ order: KeyCeremonyOrder, _ known: KeyCeremony?, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> Approval {
        // The worker goes on with what was begun; another administrator takes it over with the consent of a second one.
        if let known, known.workingPerson.isSamePerson(as: actor) { return .notNeeded }
        guard wantsTwo(order.issuerID) || known != nil else { return .notNeeded }
        try require(actor, inAccount: order.issuerID)
        if let approver = known?.approvingPerson, approver.isSamePerson(as: actor) { throw Self.isApprover(actor) }
        var details = order.details
        if let known { details["takesOver"] = known.id }
        if let approved = board.proposals.first(where: {
            $0.isFor(order.action, issuerID: order.issuerID, keyID: order.keyID, details: details) && $0.approver != nil
                && !isOver($0)
        }) {
            try requireStanding(of: approved)
            if approved.approvingPerson?.isSamePerson(as: actor) == true { throw Self.isApprover(actor) }
            guard known == nil || approved.proposingPerson.isSamePerson(as: actor) else {
                throw KeyLifeRefusal("\(approved.proposer) proposed to take the work over, and does it.")
            }
            return .approved(approved)
        }
        return .proposed(
            try await propose(
                order.action, issuerID: order.issuerID, keyID: order.keyID, details: details, reason: order.reason,
                by: actor))
    }

    private static func isApprover(_ actor: Administrator) -> KeyLifeRefusal {
        KeyLifeRefusal("\(actor.name) has approved this work, and so may not carry it out. Another administrator does.")
    }

    /// Only for the administrator who does the work. The gateway looks for itself before it believes that the work is done.
    public func finish(
        _ id: String, _ end: KeyCeremonyEnd, by actor: Administrator
    ) async throws(KeyLifeRefusal) -> KeyCeremonyOutcome {
        try KeyLifeLimits.check(evidence: end.evidence)
        try requireLoaded()
        let before = try ceremony(id, endedBy: actor)
        // Before the turn, since a token may hang.
        let facts = end.isSuccess ? try await facts(of: before, end) : nil
        return try await inTurn { () throws(KeyLifeRefusal) in
            var ceremony = try ceremony(id, endedBy: actor)
            guard end.isSuccess else {
                try await set(board.ceremonies.filter { $0.id != id }, .failed, ceremony, by: actor.name, end.reported)
                return .ended(board.records[ceremony.keyID] ?? KeyLifeRecord(ceremony, at: now))
            }
            guard ceremony == before else { throw Self.hasChanged(ceremony.keyID) }
            ceremony.worker = actor.name
            ceremony.report = end
            if let facts { return .ended(try await conclude(ceremony, end, facts)) }
            let ceremonies = board.ceremonies.map { $0.id == id ? ceremony : $0 }
            try await set(ceremonies, .reported, ceremony, by: actor.name, end.reported)
            return .waiting(ceremony)
        }
    }

    private func ceremony(
        _ id: String, endedBy actor: Administrator
    ) throws(KeyLifeRefusal) -> KeyCeremony {
        guard let ceremony = board.ceremonies.first(where: { $0.id == id }) else {
            throw KeyLifeRefusal(.unknown, "No work \(id) on a token has begun.")
        }
        guard ceremony.workingPerson.isSamePerson(as: actor) else {
            throw KeyLifeRefusal(
                "\(ceremony.worker) does this work, and ends it. To take it over, run the same command as \(actor.name): a second "
                    + "administrator has to approve that.")
        }
        return ceremony
    }

    private static func hasChanged(_ keyID: String) -> KeyLifeRefusal {
        KeyLifeRefusal(
            "The state of \(keyID), or of the work on it, changed while the gateway looked at the key. Run the same command again."
        )
    }

    /// Ends work of which the worker said that it is done.
    ///
    /// - Parameter facts: what the gateway saw.
    private func conclude(
        _ ceremony: KeyCeremony, _ report: KeyCeremonyEnd, _ facts: [String: String]
    ) async throws(KeyLifeRefusal) -> KeyLifeRecord {
        let others = board.ceremonies.filter { $0.id != ceremony.id }
        let record = try ended(ceremony, report, facts).limited()
        let told = LifeRecord(ceremony, .changed, by: ceremony.worker)
        // One transaction: the state, and that the work has ended.
        try await register([
            (record.lifeRecord, RegisterName.key(record.keyID), record.jsonBytes(capacity: 1024)),
            (told, RegisterName.ceremonies, JSONWriter.list(others)),
        ])
        board.set([record], ceremonies: others)
        return record
    }

    /// What the gateway itself saw; nil where it cannot look yet.
    private func facts(
        of ceremony: KeyCeremony, _ report: KeyCeremonyEnd
    ) async throws(KeyLifeRefusal) -> [String: String]? {
        guard isServing else { return ["seenBy": "the command itself, while no gateway ran"] }
        let isDestruction = ceremony.action == .destroy
        let look = await gateway.current.ring.look(
            for: ceremony.keyID, at: ceremony.uri, isProofWanted: !isDestruction,
            publicKey: report.publicKey(of: ceremony.fingerprint ?? report.fingerprint))
        switch look {
        case .present(let found, let facts):
            guard !isDestruction else {
                throw KeyLifeRefusal("The gateway still sees a key at \(ceremony.uri). Run the same command again.")
            }
            guard let found, found == ceremony.fingerprint ?? report.fingerprint else {
                throw KeyLifeRefusal(
                    "The key at \(ceremony.uri) is another one: its fingerprint is \(found.map { "\($0)" } ?? "not known")."
                )
            }
            if ceremony.action == .generate, facts["CKA_LOCAL"] == "false" {
                throw KeyLifeRefusal(
                    "The key at \(ceremony.uri) was not made by its token (CKA_LOCAL is false), so this is no generation. Destroy it, "
                        + "and have the token make another one.")
            }
            return facts.merging(["seenBy": "the gateway"]) { first, _ in first }
        case .unfit(let reason):
            throw KeyLifeRefusal(
                isDestruction
                    ? "The gateway still sees something at \(ceremony.uri): \(reason) Run the same command again."
                    : "The key at \(ceremony.uri) has signed no proof for the gateway: \(reason)")
        case .absent:
            guard isDestruction else {
                throw KeyLifeRefusal("The gateway sees no key at \(ceremony.uri). Run the same command again.")
            }
            try await requireAbsence(ceremony)
            return ["seenBy": "the gateway"]
        case .unavailable(let reason):
            guard !isDestruction else {
                throw KeyLifeRefusal(
                    "The gateway cannot look at \(ceremony.uri): \(reason) Run the same command again later.")
            }
            logger.notice("The gateway cannot look at a key yet: \(reason)", metadata: ["keyId": "\(ceremony.keyID)"])
            return nil
        case .unknownPlace:
            guard !isDestruction else {
                throw KeyLifeRefusal(
                    "The gateway's configuration names no key on the token of \(ceremony.uri), so the gateway cannot see that "
                        + "\(ceremony.keyID) is gone. Name a key on it, reload, and run the same command again.")
            }
            return nil
        }
    }

    /// Between two rounds; a round in which no key can be looked at costs a few words of memory.
    static let lookInterval = Duration.seconds(1)

    /// Ends work that was reported as done while the gateway could not look. Asks a token that does not answer once in a round.
    func concludeReports() async {
        guard audit.state.isWritable else { return }
        var silent: [KeyPlace] = []
        for ceremony in reportedWork.round(of: board.ceremonies.filter { $0.report != nil }) {
            guard !Task.isCancelled, let report = ceremony.report,
                let place = gateway.current.ring.place(of: ceremony.uri), !silent.contains(where: { $0 === place })
            else { continue }
            let begun = ContinuousClock.now
            do throws(KeyLifeRefusal) {
                guard let facts = try await facts(of: ceremony, report) else {
                    silent.append(place)
                    reportedWork.postpone()
                    continue
                }
                guard !Task.isCancelled else { return }
                try await inTurn { () throws(KeyLifeRefusal) in
                    guard board.ceremonies.contains(ceremony) else { return }
                    _ = try await conclude(ceremony, report, facts)
                }
            } catch {
                if error.kind == .unrecorded { return }
                if .now - begun >= Self.lookInterval { silent.append(place) }
                reportedWork.postpone()
                logger.warning(
                    "Work on a token has not ended yet: \(error)",
                    metadata: ["keyId": "\(ceremony.keyID)", "action": "\(ceremony.action.rawValue)"])
            }
        }
    }

    /// The key's record when the work has ended well.
    ///
    /// - Parameter facts: what the gateway saw. What the worker says stands beside it, under names of its own.
    private func ended(
        _ ceremony: KeyCeremony, _ end: KeyCeremonyEnd, _ facts: [String: String]
    ) throws(KeyLifeRefusal) -> KeyLifeRecord {
        if let expected = ceremony.fingerprint, let found = end.fingerprint, expected != found {
            throw KeyLifeRefusal(
                "The work began with the key \(expected), and ended with \(found): that is another one.")
        }
        let hand = Hand(actor: ceremony.actor, approver: ceremony.approver, reason: ceremony.reason)
        var evidence = end.reported.merging(facts) { _, seen in seen }
        evidence["uri"] = ceremony.uri
        evidence["endedBy"] = ceremony.worker
        var record = board.records[ceremony.keyID] ?? KeyLifeRecord(ceremony, at: now)
        let isFirst = record.history.isEmpty
        switch ceremony.action {
        case .destroy:
            if !isFirst { try rules.requireDestructible(record) }
            return change(record, to: .destroyed, .destroy, hand, evidence: evidence)
        case .generate: record.provenance = .generated
        default: record.provenance = .imported
        }
        record.fingerprint = ceremony.fingerprint ?? end.fingerprint ?? record.fingerprint
        if let fingerprint = record.fingerprint { try rules.requireOwnKey(fingerprint, of: record.keyID) }
        // Another copy of a key that is in use changes nothing about its state.
        let isCopy = !isFirst && record.state != .destroyed
        var changed = change(record, to: isCopy ? record.state : .staged, ceremony.action, hand, evidence: evidence)
        if isCopy { (changed.since, changed.retireAt) = (record.since, record.retireAt) }
        if isFirst { changed.history[0].from = nil }
        return changed
    }

    private func set(
        _ ceremonies: [KeyCeremony], _ event: LifeRecord.Event, _ ceremony: KeyCeremony, by actor: String,
        _ evidence: [String: String]
    ) async throws(KeyLifeRefusal) {
        var told = LifeRecord(ceremony, event, by: actor)
        told.evidence.merge(evidence) { _, new in new }
        try await register([(told, RegisterName.ceremonies, JSONWriter.list(ceremonies))])
        board.set(ceremonies: ceremonies)
    }
}

extension KeyCeremony {
    /// - Throws: when too much work has begun and not ended.
    fileprivate init(
        _ order: KeyCeremonyOrder, _ approved: KeyProposal?, by actor: Administrator, in open: [KeyCeremony],
        at time: Timestamp
    ) throws(KeyLifeRefusal) {
        let own = open.filter { $0.workingPerson.isSamePerson(as: actor) }
        guard open.count < KeyLifeLimits.jobs, own.count < KeyLifeLimits.jobsOfOne else {
            throw KeyLifeRefusal(
                "\(own.count) jobs of \(actor.name) on tokens have begun and not ended, \(open.count) in all; at most "
                    + "\(KeyLifeLimits.jobsOfOne) and \(KeyLifeLimits.jobs) are allowed. End one first.")
        }
        self.init(
            id: KeyOffice.newID(), action: order.action, issuerID: order.issuerID, keyID: order.keyID, uri: order.uri,
            fingerprint: order.fingerprint, reason: approved?.reason ?? order.reason,
            actor: approved?.proposer ?? actor.name,
            approver: approved?.approver, approverProofs: approved?.approverProofs ?? [], worker: actor.name,
            workerProofs: actor.proofs, begun: time)
    }
}

extension KeyCeremonyOrder {
    /// Within the limits, and without what leads to a secret.
    fileprivate func checked() throws(KeyLifeRefusal) -> KeyCeremonyOrder {
        try KeyLifeLimits.check(issuerID, "issuer ID", atMost: KeyLifeLimits.identifier)
        try KeyLifeLimits.check(keyID, "key ID", atMost: KeyLifeLimits.identifier)
        try KeyLifeLimits.check(uri, "URI", atMost: KeyLifeLimits.uri)
        var order = self
        do throws(KeyError) { order.uri = "\(try KeyURI(uri))" } catch { throw KeyLifeRefusal("\(error)") }
        return order
    }

    /// Whether it goes on with what was begun: nothing that was approved may become something else under way.
    func isSameWork(as ceremony: KeyCeremony) -> Bool {
        ceremony.action == action && ceremony.keyID.hasSameBytes(as: keyID)
            && ceremony.issuerID.hasSameBytes(as: issuerID) && ceremony.uri.hasSameBytes(as: uri)
            && (ceremony.fingerprint == fingerprint || action == .destroy)
    }

    /// What an approval is for.
    var details: [String: String] {
        var details = ["uri": uri]
        if let fingerprint { details["fingerprint"] = fingerprint.description }
        return details
    }
}

extension LifeRecord {
    init(_ ceremony: KeyCeremony, _ event: Event, by actor: String) {
        self.init(
            event, action: ceremony.action.rawValue, issuerID: ceremony.issuerID, keyID: ceremony.keyID, actor: actor,
            approver: ceremony.approver, reason: ceremony.reason, fingerprint: ceremony.fingerprint?.description,
            id: ceremony.id, evidence: ["uri": ceremony.uri])
    }
}

extension KeyLifeRecord {
    /// Of a key that has no history yet.
    init(_ ceremony: KeyCeremony, at time: Timestamp) {
        self.init(
            issuerID: ceremony.issuerID, keyID: ceremony.keyID, state: .staged, since: time,
            provenance: ceremony.action == .generate ? .generated : .imported, fingerprint: ceremony.fingerprint)
    }
}
