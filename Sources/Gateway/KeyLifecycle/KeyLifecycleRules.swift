import Signing
import SigningKit

/// The rules for key lifecycle changes. The functions have no side effects.
struct KeyLifecycleRules {
    let records: [String: KeyLifecycleRecord]
    let jobs: [ProvisioningJob]
    /// Keys whose `retireAt` has passed.
    let overdue: Set<String>

    func record(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        guard let record = records[keyID], record.keyID.hasSameBytes(as: keyID) else {
            throw Self.noKey(keyID)
        }
        return record
    }

    static func noKey(_ keyID: String) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal(.unknown, "There is no key \(keyID). privyseal keys states lists the keys.")
    }

    /// Throws if the destruction of the key has begun: the key must not sign again.
    private func requireNoDestruction(of keyID: String) throws(KeyLifecycleRefusal) {
        let fingerprint = records[keyID]?.fingerprint
        // The key may have a second ID.
        let destruction = jobs.first { job in
            job.action == .destroy && (job.keyID == keyID || (fingerprint != nil && job.fingerprint == fingerprint))
        }
        guard let destruction else { return }
        throw KeyLifecycleRefusal(
            "The destruction of \(destruction.keyID) has begun but not ended. End it first: privyseal keys destroy "
                + "\(destruction.keyID).")
    }

    func active(of issuerID: String) -> KeyLifecycleRecord? {
        records.values.first { $0.issuerID == issuerID && $0.state == .active }
    }

    /// What an order changes.
    struct Transition {
        /// The record before the change.
        let record: KeyLifecycleRecord
        let state: KeyLifecycleState
        /// For `activate`: the active key that retires.
        var replaced: KeyLifecycleRecord?
    }

    /// The transition that an order makes in the current state. It holds all rules for orders: a proposal is checked
    /// with it, and the change itself is made from its result.
    func transition(_ order: KeyChangeOrder) throws(KeyLifecycleRefusal) -> Transition {
        let record = try record(order.keyID)
        let key = "The key \(record.keyID)"
        switch (order.action, record.state) {
        case (.activate, .retiring) where overdue.contains(record.keyID):
            throw KeyLifecycleRefusal(
                "The retirement time of the key \(record.keyID) has passed; activate another one.")
        case (.activate, .staged), (.activate, .retiring): return try activation(order, record)
        case (.activate, .suspended):
            throw KeyLifecycleRefusal("\(key) is suspended; resume it first, with privyseal keys resume.")
        case (.activate, .compromised):
            throw KeyLifecycleRefusal(
                "\(key) is compromised. If it is not, undo that first, with privyseal keys restore.")
        case (.activate, .retired):
            throw KeyLifecycleRefusal("\(key) is retired, which is final; import another one.")
        case (.activate, .destroyed): throw KeyLifecycleRefusal("\(key) is destroyed; import another one.")

        case (.retire, .compromised) where record.stateBeforeCompromise == .destroyed:
            throw KeyLifecycleRefusal("\(key) was destroyed before it was compromised: there is nothing to retire.")
        case (.retire, .staged), (.retire, .retiring), (.retire, .suspended), (.retire, .compromised):
            return Transition(record: record, state: .retired)
        case (.retire, .active):
            throw KeyLifecycleRefusal(
                "\(key) is the only active key of its account. Activate another one, which retires this one: "
                    + "privyseal keys activate NEW --retire \(record.keyID) --overlap 24h --reason \"…\".")

        case (.suspend, .staged), (.suspend, .active), (.suspend, .retiring):
            return Transition(record: record, state: .suspended)
        case (.suspend, .compromised): throw KeyLifecycleRefusal("\(key) is compromised, and signs nothing now.")
        case (.compromise, let state) where state != .compromised:
            return Transition(record: record, state: .compromised)

        case (.resume, .suspended): return try resumption(record)
        case (.restore, .compromised):
            try requireNoDestruction(of: record.keyID)
            // A retired or destroyed key becomes retired or destroyed again.
            let final: KeyLifecycleState? = [.retired, .destroyed].first { $0 == record.stateBeforeCompromise }
            return Transition(record: record, state: final ?? .suspended)
        case (.resume, let state): throw KeyLifecycleRefusal("\(key) is \(state.rawValue), not suspended.")
        case (.restore, let state): throw KeyLifecycleRefusal("\(key) is \(state.rawValue), not compromised.")

        case (.activate, _), (.retire, _), (.suspend, _), (.compromise, _): throw already(record)
        case (.adopt, _), (.import, _), (.generate, _), (.expire, _), (.revert, _), (.destroy, _):
            throw KeyLifecycleRefusal("\(order.action.rawValue) cannot be requested here.")
        }
    }

    private func activation(
        _ order: KeyChangeOrder, _ new: KeyLifecycleRecord
    ) throws(KeyLifecycleRefusal) -> Transition {
        try requireNoDestruction(of: new.keyID)
        if new.isCompromised, let compromisedAt = new.compromisedAt {
            throw KeyLifecycleRefusal(
                "The key \(new.keyID) was compromised at \(compromisedAt.text), "
                    + "and that was not undone; import another one.")
        }
        guard let old = active(of: new.issuerID) else {
            if let named = order.retiring {
                throw KeyLifecycleRefusal(
                    "The key \(named) is not active: no key of the account is. Omit --retire.")
            }
            return Transition(record: new, state: .active)
        }
        guard let named = order.retiring else {
            throw KeyLifecycleRefusal(
                "The key \(old.keyID) is active. Replace it: --retire \(old.keyID) --overlap 24h.")
        }
        guard named.hasSameBytes(as: old.keyID) else {
            throw KeyLifecycleRefusal("The key \(named) is not active; \(old.keyID) is. Name that one with --retire.")
        }
        guard let overlap = order.overlap, overlap > 0 else {
            throw KeyLifecycleRefusal(
                "Without an overlap, the gateway would refuse requests in flight that name \(old.keyID); give one, "
                    + "such as --overlap 24h.")
        }
        guard order.watch ?? 0 <= Self.longestWatch else {
            throw KeyLifecycleRefusal("The gateway monitors the new key for at most a day; give a shorter --watch.")
        }
        return Transition(record: new, state: .active, replaced: old)
    }

    /// In seconds.
    private static let longestWatch = 86_400

    private func resumption(_ record: KeyLifecycleRecord) throws(KeyLifecycleRefusal) -> Transition {
        try requireNoDestruction(of: record.keyID)
        let state = record.suspendedFrom ?? .staged
        if state == .active, let active = active(of: record.issuerID) {
            throw KeyLifecycleRefusal(
                "The key \(record.keyID) was active when it was suspended, and \(active.keyID) is active now. Retire it, "
                    + "or suspend \(active.keyID) first.")
        }
        if state == .retiring, overdue.contains(record.keyID) {
            throw KeyLifecycleRefusal("The retirement time of the key \(record.keyID) has passed. Retire it.")
        }
        // The key may be compromised or destroyed under another ID.
        if state.signs, let fingerprint = record.fingerprint {
            try requireOwnKey(fingerprint, of: record.keyID, amongLostOnly: true)
        }
        return Transition(record: record, state: state)
    }

    /// Throws if the key has another ID in the register: a compromise or destruction of one ID would miss the other.
    ///
    /// - Parameter amongLostOnly: whether only a compromised or destroyed key counts.
    func requireOwnKey(
        _ fingerprint: PublicKeyFingerprint, of keyID: String, amongLostOnly: Bool = false
    ) throws(KeyLifecycleRefusal) {
        let others = records.values.filter { $0.fingerprint == fingerprint && $0.keyID != keyID }
        guard let other = others.first(where: \.isUntrusted) ?? (amongLostOnly ? nil : others.first) else { return }
        throw KeyLifecycleRefusal(
            "The key \(fingerprint) is \(other.keyID) in the register, which is \(other.state.rawValue)"
                + (other.isCompromised && other.state != .compromised ? " and was compromised" : "")
                + ". A key ID is Apple's name for one key: use another key for \(keyID).")
    }

    /// Throws if the key is being brought in under another ID.
    private func requireNoOtherWork(
        on fingerprint: PublicKeyFingerprint, as keyID: String
    ) throws(KeyLifecycleRefusal) {
        let others = jobs.filter { $0.fingerprint == fingerprint && $0.keyID != keyID && $0.action != .destroy }
        guard let other = others.first else { return }
        throw KeyLifecycleRefusal(
            "The \(other.action.rawValue) of the key \(fingerprint) as \(other.keyID) began at \(other.begun.text) and has not "
                + "ended. A key ID is Apple's name for one key: use another key for \(keyID).")
    }

    /// Throws if a provisioning job may not begin.
    ///
    /// - Parameter seen: the fingerprint of the open key with this ID; nil if the gateway sees none.
    func job(
        _ order: ProvisioningOrder, seen: PublicKeyFingerprint?
    ) throws(KeyLifecycleRefusal) {
        let known = records[order.keyID]
        if let known, !known.keyID.hasSameBytes(as: order.keyID) {
            throw KeyLifecycleRefusal(
                "The key ID \(order.keyID) looks like that of a key in the register, but is written with other Unicode characters. "
                    + "Copy it from privyseal keys states.")
        }
        if let known, !known.issuerID.hasSameBytes(as: order.issuerID) {
            throw KeyLifecycleRefusal(
                "The key \(order.keyID) belongs to the account \(known.issuerID), not to \(order.issuerID).")
        }
        let open = jobs.first { $0.keyID == order.keyID }
        if let other = open, !order.isSameWork(as: other), order.action != .destroy {
            throw KeyLifecycleRefusal(
                "The \(other.action.rawValue) of \(order.keyID) at \(other.uri) that \(other.actor) began at "
                    + "\(other.begun.text) has not ended; end it first, with the "
                    + "same command, or destroy the key.")
        }
        if order.action == .destroy {
            guard let known else { return }
            return try requireDestructible(known)
        }
        if order.action == .import, order.fingerprint == nil {
            throw KeyLifecycleRefusal(
                "An import names the key by its fingerprint, sha256: and 64 hexadecimal digits, so that the approval "
                    + "is for this key and no other. Give the fingerprint.")
        }
        if let fingerprint = order.fingerprint {
            try requireOwnKey(fingerprint, of: order.keyID)
            try requireNoOtherWork(on: fingerprint, as: order.keyID)
        }
        guard let known else {
            guard records.count < KeyLifecycleLimits.keys else {
                throw KeyLifecycleRefusal("The register holds \(records.count) keys, which is the limit.")
            }
            return
        }
        if known.isCompromised, let compromisedAt = known.compromisedAt {
            throw KeyLifecycleRefusal(
                "The key \(order.keyID) was compromised at \(compromisedAt.text). A key ID is "
                    + "Apple's name for one key: import the new one under its own ID.")
        }
        // The key of an interrupted generation may have been adopted meanwhile.
        guard known.state != .destroyed, open == nil || order.action == .import else { return }
        let expected = known.fingerprint ?? seen
        // The configuration names the key, but the gateway has never seen it. The order provides it.
        if expected == nil, known.history.allSatisfy({ $0.action == .adopt }) { return }
        // An import of the same key is a copy for another token. Another key under the same ID is a mistake, and a
        // generated key is always another one.
        guard let expected, expected == order.fingerprint, order.action == .import else {
            throw KeyLifecycleRefusal(
                "There is a key \(order.keyID) already, which is \(known.state.rawValue). A key ID is Apple's name for one "
                    + "key: give the ID of the new one.")
        }
    }

    /// Called at the beginning and at the end of a destruction.
    func requireDestructible(_ record: KeyLifecycleRecord) throws(KeyLifecycleRefusal) {
        switch record.state {
        case .staged, .retired, .suspended, .compromised: return
        case .destroyed: throw already(record)
        case .active, .retiring:
            throw KeyLifecycleRefusal(
                "The key \(record.keyID) is \(record.state.rawValue): it still signs. Retire it first, or mark it as "
                    + "compromised.")
        }
    }

    private func already(_ record: KeyLifecycleRecord) -> KeyLifecycleRefusal {
        KeyLifecycleRefusal("The key \(record.keyID) is \(record.state.rawValue) already.")
    }
}

/// Why a key lifecycle change is refused: a sentence with the remedy.
public struct KeyLifecycleRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The rules do not allow it in the current state.
        case transition
        /// The state changed while the gateway looked at the key, so it has to look again.
        case changed
        /// The key, proposal or job does not exist.
        case unknown
        /// Other gateways changed the register at the same time.
        case superseded
        /// It could not be recorded. A stop may be in effect nevertheless.
        case unrecorded
    }

    public let kind: Kind
    public let description: String

    init(_ description: String) { self.init(.transition, description) }

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
