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
            throw KeyLifecycleRefusal(
                .unknown, "There is no key \(keyID). privyseal keys states lists the keys.")
        }
        return record
    }

    /// Throws if the destruction of the key has begun: the key must not sign again.
    private func requireNoDestruction(of keyID: String) throws(KeyLifecycleRefusal) {
        guard !jobs.contains(where: { $0.keyID == keyID && $0.action == .destroy }) else {
            throw KeyLifecycleRefusal(
                "The destruction of \(keyID) has begun but not ended. End it first: privyseal keys destroy \(keyID).")
        }
    }

    func active(of issuerID: String) -> KeyLifecycleRecord? {
        records.values.first { $0.issuerID == issuerID && $0.state == .active }
    }

    /// - Returns: the key that becomes active, and the active key that it replaces, if any.
    func activation(
        _ order: KeyChangeOrder
    ) throws(KeyLifecycleRefusal) -> (new: KeyLifecycleRecord, old: KeyLifecycleRecord?) {
        let new = try record(order.keyID)
        try requireNoDestruction(of: order.keyID)
        switch new.state {
        case .retiring where overdue.contains(order.keyID):
            throw KeyLifecycleRefusal("The retirement time of the key \(new.keyID) has passed; activate another one.")
        case .staged, .retiring: break
        case .active: throw KeyLifecycleRefusal("The key \(new.keyID) is active already.")
        case .suspended:
            throw KeyLifecycleRefusal("The key \(new.keyID) is suspended; resume it first, with privyseal keys resume.")
        case .compromised:
            throw KeyLifecycleRefusal(
                "The key \(new.keyID) is compromised. If it is not, undo that first, with privyseal keys restore.")
        case .retired:
            throw KeyLifecycleRefusal("The key \(new.keyID) is retired, which is final; import another one.")
        case .destroyed: throw KeyLifecycleRefusal("The key \(new.keyID) is destroyed; import another one.")
        }
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
            return (new, nil)
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
        return (new, old)
    }

    /// In seconds.
    private static let longestWatch = 86_400

    func retirement(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let record = try record(keyID)
        switch record.state {
        case .compromised where record.stateBeforeCompromise == .destroyed:
            throw KeyLifecycleRefusal(
                "The key \(keyID) was destroyed before it was compromised: there is nothing to retire.")
        case .staged, .retiring, .suspended, .compromised: return record
        case .active:
            throw KeyLifecycleRefusal(
                "The key \(keyID) is the only active key of its account. Activate another one, which retires this one: "
                    + "privyseal keys activate NEW --retire \(keyID) --overlap 24h.")
        case .retired, .destroyed: throw already(record)
        }
    }

    func suspension(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let record = try record(keyID)
        switch record.state {
        case .staged, .active, .retiring: return record
        case .suspended, .retired, .destroyed: throw already(record)
        case .compromised: throw KeyLifecycleRefusal("The key \(keyID) is compromised, and signs nothing now.")
        }
    }

    func resumption(_ keyID: String) throws(KeyLifecycleRefusal) -> (KeyLifecycleRecord, KeyLifecycleState) {
        let record = try record(keyID)
        guard record.state == .suspended else {
            throw KeyLifecycleRefusal("The key \(keyID) is \(record.state.rawValue), not suspended.")
        }
        try requireNoDestruction(of: keyID)
        let state = record.suspendedFrom ?? .staged
        if state == .active, let active = active(of: record.issuerID) {
            throw KeyLifecycleRefusal(
                "The key \(keyID) was active when it was suspended, and \(active.keyID) is active now. Retire it, or suspend "
                    + "\(active.keyID) first.")
        }
        if state == .retiring, overdue.contains(keyID) {
            throw KeyLifecycleRefusal("The retirement time of the key \(keyID) has passed. Retire it.")
        }
        // The key may be compromised or destroyed under another ID.
        if state.signs, let fingerprint = record.fingerprint {
            try requireOwnKey(fingerprint, of: keyID, amongLostOnly: true)
        }
        return (record, state)
    }

    func compromise(_ keyID: String) throws(KeyLifecycleRefusal) -> KeyLifecycleRecord {
        let record = try record(keyID)
        guard record.state != .compromised else { throw already(record) }
        return record
    }

    /// - Returns: the record, and the new state. A retired or destroyed key becomes retired or destroyed again.
    func restoration(_ keyID: String) throws(KeyLifecycleRefusal) -> (KeyLifecycleRecord, KeyLifecycleState) {
        let record = try record(keyID)
        guard record.state == .compromised else {
            throw KeyLifecycleRefusal("The key \(keyID) is \(record.state.rawValue), not compromised.")
        }
        try requireNoDestruction(of: keyID)
        return switch record.stateBeforeCompromise {
        case .retired: (record, .retired)
        case .destroyed: (record, .destroyed)
        default: (record, .suspended)
        }
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

    /// Throws if an order or proposal cannot be carried out now. The change itself uses the same functions.
    func check(_ order: KeyChangeOrder) throws(KeyLifecycleRefusal) {
        switch order.action {
        case .activate: _ = try activation(order)
        case .retire: _ = try retirement(order.keyID)
        case .suspend: _ = try suspension(order.keyID)
        case .resume: _ = try resumption(order.keyID)
        case .compromise: _ = try compromise(order.keyID)
        case .restore: _ = try restoration(order.keyID)
        case .adopt, .import, .generate, .expire, .revert, .destroy:
            throw KeyLifecycleRefusal("\(order.action.rawValue) cannot be requested here.")
        }
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
        if let other = jobs.first(where: { $0.keyID == order.keyID && !order.isSameWork(as: $0) }) {
            throw KeyLifecycleRefusal(
                "The \(other.action.rawValue) of \(order.keyID) at \(other.uri) that \(other.actor) began at "
                    + "\(other.begun.text) has not ended; end it first, with the "
                    + "same command.")
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
        if let fingerprint = order.fingerprint { try requireOwnKey(fingerprint, of: order.keyID) }
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
        guard known.state != .destroyed else { return }
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
        /// The key, proposal or job does not exist.
        case unknown
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
