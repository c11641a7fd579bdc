import AuditKit
import SigningKit
import StrictJSON

/// Work on tokens, which others do: it is recorded before it begins and after it has ended, so that what a crash leaves half
/// done is known.
extension KeyOffice {
    public func begin(_ order: KeyCeremonyOrder, by actor: String) async throws(KeyLifeRefusal) -> KeyCeremonyAnswer {
        try Self.require(reason: order.reason)
        guard [.import, .generate, .destroy].contains(order.action) else {
            throw KeyLifeRefusal("\(order.action.rawValue) is no work on a token.")
        }
        return try await inTurn { () throws(KeyLifeRefusal) in
            guard account(order.issuerID) != nil || board.records[order.keyID] != nil else {
                throw KeyLifeRefusal(
                    .unknown,
                    "There is no account \(order.issuerID) in the configuration. Add it first, or mend the issuer ID.")
            }
            try rules.ceremony(order, board.ceremonies, seen: slot(order.keyID)?.fingerprint)
            let approved = try await approval(order, by: actor)
            if case .proposed(let proposal) = approved { return .proposed(proposal) }
            try await disown(order)
            let (hand, approver): (String, String?) =
                if case .approved(let proposal) = approved { (proposal.proposer, proposal.approver) } else {
                    (actor, nil)
                }
            // The same work again goes on where it was left.
            let known = board.ceremonies.first { $0.keyID == order.keyID }
            let ceremony =
                known
                ?? KeyCeremony(
                    id: Self.newID(), action: order.action, issuerID: order.issuerID, keyID: order.keyID,
                    uri: order.uri, fingerprint: order.fingerprint, reason: order.reason, actor: hand,
                    approver: approver, begun: now)
            let ceremonies = board.ceremonies.filter { $0.id != ceremony.id } + [ceremony]
            var told = [
                (LifeRecord(ceremony, .begun, by: actor), RegisterName.ceremonies, JSONWriter.list(ceremonies))
            ]
            var proposals: [KeyProposal]?
            if case .approved(let used) = approved {
                // In the same transaction: an approval is good for once.
                let others = board.proposals.filter { $0.id != used.id }
                told.append((LifeRecord(used, .approved, by: actor), RegisterName.proposals, JSONWriter.list(others)))
                proposals = others
            }
            try await register(told)
            board.set(proposals: proposals, ceremonies: ceremonies)
            return .begun(ceremony)
        }
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

    private func approval(_ order: KeyCeremonyOrder, by actor: String) async throws(KeyLifeRefusal) -> Approval {
        // What was begun with approval may be gone on with.
        if board.ceremonies.contains(where: { order.isSameWork(as: $0) }) {
            return .notNeeded
        }
        guard wantsTwo(order.issuerID) else { return .notNeeded }
        let details = order.details
        if let approved = board.proposals.first(where: {
            $0.action == order.action && $0.keyID == order.keyID && $0.details == details && $0.approver != nil
                && $0.expires > now
        }) {
            return .approved(approved)
        }
        return .proposed(
            try await propose(
                order.action, issuerID: order.issuerID, keyID: order.keyID, details: details, reason: order.reason,
                by: actor))
    }

    public func finish(
        _ id: String, _ end: KeyCeremonyEnd, by actor: String
    ) async throws(KeyLifeRefusal) -> KeyLifeRecord {
        try await inTurn { () throws(KeyLifeRefusal) in
            guard let ceremony = board.ceremonies.first(where: { $0.id == id }) else {
                throw KeyLifeRefusal(.unknown, "No work \(id) on a token has begun.")
            }
            let others = board.ceremonies.filter { $0.id != id }
            guard end.isSuccess else {
                try await set(others, .failed, ceremony, by: actor, end.evidence)
                guard let record = board.records[ceremony.keyID] else { return KeyLifeRecord(ceremony, at: now) }
                return record
            }
            let record = try ended(ceremony, end)
            let told = LifeRecord(ceremony, .changed, by: actor)
            // One transaction: the state, and that the work has ended.
            try await register([
                (record.lifeRecord, RegisterName.key(record.keyID), record.jsonBytes(capacity: 1024)),
                (told, RegisterName.ceremonies, JSONWriter.list(others)),
            ])
            board.set([record], ceremonies: others)
            return record
        }
    }

    /// The key's record when the work has ended well.
    private func ended(_ ceremony: KeyCeremony, _ end: KeyCeremonyEnd) throws(KeyLifeRefusal) -> KeyLifeRecord {
        if let expected = ceremony.fingerprint, let found = end.fingerprint, expected != found {
            throw KeyLifeRefusal(
                "The work began with the key \(expected), and ended with \(found): that is another one.")
        }
        let hand = Hand(actor: ceremony.actor, approver: ceremony.approver, reason: ceremony.reason)
        var evidence = end.evidence
        evidence["uri"] = ceremony.uri
        var record = board.records[ceremony.keyID] ?? KeyLifeRecord(ceremony, at: now)
        record.fingerprint = end.fingerprint ?? record.fingerprint
        let isFirst = record.history.isEmpty
        switch ceremony.action {
        case .destroy: return change(record, to: .destroyed, .destroy, hand, evidence: evidence)
        case .generate: record.provenance = .generated
        default: record.provenance = .imported
        }
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

extension KeyCeremonyOrder {
    /// Whether it goes on with what was begun: nothing that was approved may become something else under way.
    func isSameWork(as ceremony: KeyCeremony) -> Bool {
        ceremony.action == action && ceremony.keyID == keyID && ceremony.issuerID == issuerID && ceremony.uri == uri
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
