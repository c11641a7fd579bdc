public import AuditKit
import AuditLog
public import Signing
public import SigningKit
public import StrictJSON

/// All keys of a gateway, with open proposals and jobs: `GET /v1/keys`.
public struct KeyLifecycleOverview: Codable, Sendable {
    public struct Key: Sendable {
        /// The record, with the state that applies in the gateway.
        public var life: KeyLifecycleRecord
        /// Whether the register has that state. It does not after a stop that could not be recorded.
        public var isRecorded = true
        /// Whether the configuration names the key.
        public var isDeclared: Bool
        /// The name of the `KeyState`, and why the key is not ready; nil for a key that is not declared.
        public var fitness: String?
        public var complaint: String?
        /// Without attributes that lead to a secret.
        public var uri: String?
        /// `token`, `process` or `service`.
        public var custody: String?
        /// The places of a key with several places, in order. Empty for a key with one.
        public var replicas: [Replica] = []
    }

    /// A place of a key.
    public struct Replica: Codable, Sendable, Equatable {
        /// Without attributes that lead to a secret.
        public var uri: String
        /// The name of the `KeyState` there, and why the key is not ready.
        public var fitness: String
        public var complaint: String?
        public var custody: String?
        public var tokenSerial: String?
    }

    public struct Account: Codable, Sendable {
        public var issuerID: String
        /// Whether two administrators are required.
        public var hasDualControl: Bool
        public var keys: [Key]

        private enum CodingKeys: String, CodingKey {
            case issuerID = "issuerId"
            case hasDualControl = "dualControl"
            case keys
        }
    }

    public var accounts: [Account]
    public var proposals: [KeyProposal]
    public var jobs: [ProvisioningJob]
    /// The differences between configuration and register, each with the state that applies and the remedy.
    public var differences: [String]

    private enum CodingKeys: String, CodingKey {
        case accounts, proposals
        case jobs = "ceremonies"
        case differences
    }

    public func key(_ keyID: String) -> Key? {
        accounts.lazy.flatMap(\.keys).first { $0.life.keyID == keyID }
    }
}

// The members of the record stand beside the others.
extension KeyLifecycleOverview.Key: Codable {
    private enum CodingKeys: String, CodingKey {
        case recorded, declared, fitness, complaint, uri, custody, replicas
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            life: try KeyLifecycleRecord(from: decoder),
            isRecorded: try members.decodeIfPresent(Bool.self, forKey: .recorded) ?? true,
            isDeclared: try members.decode(Bool.self, forKey: .declared),
            fitness: try members.decodeIfPresent(String.self, forKey: .fitness),
            complaint: try members.decodeIfPresent(String.self, forKey: .complaint),
            uri: try members.decodeIfPresent(String.self, forKey: .uri),
            custody: try members.decodeIfPresent(String.self, forKey: .custody),
            replicas: try members.decodeIfPresent([KeyLifecycleOverview.Replica].self, forKey: .replicas) ?? [])
    }

    public func encode(to encoder: any Encoder) throws {
        try life.encode(to: encoder)
        let others: JSONMembers = [
            "recorded": isRecorded, "declared": isDeclared, "fitness": fitness, "complaint": complaint, "uri": uri,
            "custody": custody, "replicas": replicas.isEmpty ? nil : replicas,
        ]
        try others.encode(to: encoder)
    }
}

extension KeyLifecycleOverview {
    /// Combines the register with the configuration and the health of the keys.
    init(_ stateCache: KeyStateCache, handles: [String: KeyHandle], at time: Timestamp, isOver: (Deadline) -> Bool) {
        let held = stateCache.held
        let records = stateCache.records.values.sorted { ($0.issuerID, $0.keyID) < ($1.issuerID, $1.keyID) }.map {
            var record = $0
            record.state = record.state.stopped(as: held[record.keyID])
            record.fingerprint = record.fingerprint ?? handles[record.keyID]?.fingerprint
            return record
        }
        var accounts: [Account] = []
        for issuerID in stateCache.accounts.map(\.issuerID) + records.map(\.issuerID)
        where !accounts.contains(where: { $0.issuerID == issuerID }) {
            let keys = records.filter { $0.issuerID == issuerID }.map { record in
                let handle = handles[record.keyID]
                return Key(
                    life: record, isRecorded: held[record.keyID] == nil,
                    isDeclared: stateCache.isDeclared(record.keyID), fitness: handle?.state.name,
                    complaint: handle?.state.reason, uri: handle?.settings.uri.description,
                    custody: handle?.custody?.rawValue, replicas: handle.map(Self.replicas) ?? [])
            }
            accounts.append(
                Account(issuerID: issuerID, hasDualControl: stateCache.hasDualControl(issuerID), keys: keys))
        }
        self.init(
            accounts: accounts, proposals: stateCache.proposals.filter { !isOver(stateCache.deadline(of: $0)) },
            jobs: stateCache.jobs, differences: Self.differences(stateCache, records, held, handles, at: time))
        for record in records where record.state == .retiring {
            guard let deadline = stateCache.deadline(of: record), deadline.time <= time, !isOver(deadline) else {
                continue
            }
            differences.append(
                "The key \(record.keyID) should have retired by now, but the clock of this machine was set forward since "
                    + "its retirement was ordered, so it still signs until the ordered time has passed. If the clock is "
                    + "right now, retire the key, or restart the gateway.")
        }
    }

    private static func replicas(of handle: KeyHandle) -> [Replica] {
        guard handle.replicas.count > 1 else { return [] }
        return handle.replicas.map { replica in
            let state = replica.state
            return Replica(
                uri: replica.uri.description, fitness: state.name, complaint: state.reason,
                custody: replica.custody?.rawValue, tokenSerial: replica.tokenSerial)
        }
    }

    private static func differences(
        _ stateCache: KeyStateCache, _ records: [KeyLifecycleRecord], _ held: [String: KeyLifecycleState],
        _ handles: [String: KeyHandle], at time: Timestamp
    ) -> [String] {
        var sentences: [String] = []
        if !stateCache.isLoaded {
            sentences.append(
                "The states of keys are not known yet, because the audit log has not been opened. Until then, the "
                    + "gateway refuses every request. See the log of the gateway for the cause.")
        }
        for account in stateCache.accounts where stateCache.isLoaded {
            let active = records.first { $0.issuerID == account.issuerID && $0.state == .active }
            if let active, active.keyID != account.activeKeyID,
                account.keys.contains(where: { $0.keyID == active.keyID })
            {
                sentences.append(
                    "The configuration says that \(account.activeKeyID) is the active key of \(account.issuerID); the register "
                        + "says \(active.keyID), and the register decides. Write activeKey: \(active.keyID).")
            }
            if active == nil {
                sentences.append(
                    "No key of \(account.issuerID) is active: requests that name no key are refused. Resume one, or activate "
                        + "another.")
            }
        }
        // Other stops are being recorded now.
        let unrecorded = Set(stateCache.unrecordedStops.map(\.order.keyID))
        for (keyID, state) in held.sorted(by: { $0.key < $1.key }) where unrecorded.contains(keyID) {
            sentences.append(
                "The key \(keyID) is stopped in this process (\(state.rawValue)), but the stop is not recorded yet. "
                    + "The gateway records it as soon as it can write the audit log; if it restarts before that, order "
                    + "the stop again.")
        }
        for account in stateCache.accounts {
            for record in records
            where record.issuerID != account.issuerID && account.keys.contains(where: { $0.keyID == record.keyID }) {
                sentences.append(
                    "The key \(record.keyID) belongs to the account \(record.issuerID) in the register, but the configuration names it "
                        + "for \(account.issuerID): it signs nothing. Correct the issuer ID.")
            }
        }
        sentences += twins(records.filter { $0.isCompromised || $0.state.mayReturn || stateCache.isDeclared($0.keyID) })
        for record in records {
            switch (record.state, stateCache.isDeclared(record.keyID)) {
            case (.active, false), (.retiring, false), (.staged, false), (.suspended, false):
                sentences.append(
                    "The key \(record.keyID) is \(record.state.rawValue) in the register, but the configuration does not name "
                        + "it: it signs nothing. Add it and reload"
                        + (record.state == .active ? "." : ", or retire it."))
            case (.destroyed, true):
                sentences.append(
                    handles[record.keyID]?.hasProof(after: record.since, now: time) == true
                        ? "The key \(record.keyID) is destroyed in the register, but still signs proofs: it exists. "
                            + "Destroy it on its token, remove it from the configuration and reload."
                        : "The key \(record.keyID) is destroyed, and the configuration still names it. Remove it and "
                            + "reload.")
            default: continue
            }
        }
        return sentences
    }

    /// Keys with different IDs and the same private key, such as a file that was copied under a wrong name.
    private static func twins(_ records: [KeyLifecycleRecord]) -> [String] {
        let groups = Dictionary(grouping: records.filter { $0.fingerprint != nil }, by: \.fingerprint)
        return groups.values.filter { $0.count > 1 }.map { twins in
            let names = twins.map(\.keyID).joined(separator: " and ")
            let isStolen = twins.contains(where: \.isCompromised)
            return "The keys \(names) have the same private key"
                + (isStolen ? ", and one of them is compromised: none of them signs." : ".")
                + " Give each ID the key that Apple issued for it."
        }.sorted()
    }
}

extension KeyLifecycleState {
    /// Whether an order can let the key sign again.
    fileprivate var mayReturn: Bool { self != .retired && self != .destroyed }
}

extension KeyHandle {
    /// Whether the key can sign, and its last proof is younger than `begin`.
    fileprivate func hasProof(after begin: Timestamp, now: Timestamp) -> Bool {
        guard state.canSign, let proofAge else { return false }
        return proofAge < .milliseconds(now.milliseconds - begin.milliseconds)
    }
}

extension KeyStateCache {
    func isDeclared(_ keyID: String) -> Bool { accounts.contains { $0.keys.contains { $0.keyID == keyID } } }
}

extension KeyLifecycleOverview {
    /// Makes the overview from the registers, while no gateway runs.
    public init(_ registers: [AuditRegister], _ settings: GatewaySettings, at time: Timestamp) throws(JSONReadError) {
        let stateCache = KeyStateCache()
        let byName = Dictionary(registers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        try stateCache.load(byName, at: time)
        stateCache.declare(settings.accounts, at: time)
        self.init(stateCache, handles: [:], at: time) { $0.time <= time }
    }
}
