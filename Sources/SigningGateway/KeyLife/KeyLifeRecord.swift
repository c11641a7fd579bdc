public import SigningKit
public import StrictJSON

/// Everything that is known of a key's life. What the register holds under the key's name, and what the admin listener gives out.
public struct KeyLifeRecord: Sendable, Equatable {
    /// How the key came into its place. What is expected of its attributes hangs on it.
    public enum Provenance: String, Sendable {
        case imported, generated, unknown
    }

    public var issuerID: String
    public var keyID: String
    public var state: KeyLifeState
    /// What it goes back to when it is resumed.
    public var suspendedFrom: KeyLifeState?
    public var since: Timestamp
    /// Of a retiring key; nil where it retires when somebody says so.
    public var retireAt: Timestamp?
    public var provenance: Provenance
    /// Nil as long as nobody has seen the key.
    public var fingerprint: PublicKeyFingerprint?
    /// When the key was said to be compromised. It stays for good.
    public var compromisedAt: Timestamp?
    /// When `restore` undid that; nil while the key counts as compromised.
    public var restoredAt: Timestamp?
    /// From the first to the last.
    public var history: [KeyLifeChange]
    /// How many changes the history leaves out; the audit log has them.
    public var omitted: Int

    public init(
        issuerID: String, keyID: String, state: KeyLifeState, suspendedFrom: KeyLifeState? = nil, since: Timestamp,
        retireAt: Timestamp? = nil, provenance: Provenance, fingerprint: PublicKeyFingerprint? = nil,
        compromisedAt: Timestamp? = nil, restoredAt: Timestamp? = nil, history: [KeyLifeChange] = [], omitted: Int = 0
    ) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.state = state
        self.suspendedFrom = suspendedFrom
        self.since = since
        self.retireAt = retireAt
        self.provenance = provenance
        self.fingerprint = fingerprint
        self.compromisedAt = compromisedAt
        self.restoredAt = restoredAt
        self.history = history
        self.omitted = omitted
    }

    /// Whether another person may have the key. A retired or destroyed key stays so.
    public var isCompromised: Bool { state == .compromised || (compromisedAt != nil && restoredAt == nil) }

    /// Whether no signature of the key proves anything.
    var isLost: Bool { isCompromised || state == .destroyed }

    /// Of a compromised key: the state before.
    var stateBeforeCompromise: KeyLifeState? {
        history.last { $0.to == .compromised && $0.from != .compromised }?.from
    }

    /// A second compromise of a compromised key, as of one that is retired since, leaves the first time.
    mutating func noteCompromise(at time: Timestamp) {
        if compromisedAt == nil || restoredAt != nil { (compromisedAt, restoredAt) = (time, nil) }
    }
}

extension KeyLifeRecord: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            issuerID: try object.text("issuerId"), keyID: try object.text("keyId"), state: try object.choice("state"),
            suspendedFrom: try object.optionalChoice("suspendedFrom"), since: try object.time("since"),
            retireAt: try object.optionalTime("retireAt"), provenance: try object.choice("provenance"),
            fingerprint: try object.optionalFingerprint("fingerprint"),
            compromisedAt: try object.optionalTime("compromisedAt"),
            restoredAt: try object.optionalTime("restoredAt"), history: try object.list("history"),
            omitted: try object.optional("omitted") { value throws(JSONReadError) in
                Int(clamping: try value.integer())
            } ?? 0)
        // Earlier versions left it to the history.
        guard compromisedAt == nil, let compromise = history.last(where: { $0.action == .compromise }) else { return }
        compromisedAt = compromise.time
        let last = history.last { $0.action == .compromise || $0.action == .restore }
        if let last, last.action == .restore { restoredAt = last.time }
    }

    public func write(to writer: inout JSONWriter) { writer.object { writeMembers(to: &$0) } }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("issuerId", issuerID)
        writer.member("keyId", keyID)
        writer.member("state", state.rawValue)
        if let suspendedFrom { writer.member("suspendedFrom", suspendedFrom.rawValue) }
        writer.member("since", since)
        if let retireAt { writer.member("retireAt", retireAt) }
        writer.member("provenance", provenance.rawValue)
        if let fingerprint { writer.member("fingerprint", fingerprint.description) }
        if let compromisedAt { writer.member("compromisedAt", compromisedAt) }
        if let restoredAt { writer.member("restoredAt", restoredAt) }
        if omitted > 0 { writer.member("omitted", omitted) }
        writer.name("history")
        writer.array { writer in for change in history { change.write(to: &writer) } }
    }
}
