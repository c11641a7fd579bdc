public import SigningKit
public import StrictJSON

/// The lifecycle of a key. The register stores it under the key's name, and the admin listener returns it.
public struct KeyLifecycleRecord: Sendable, Equatable {
    public typealias Provenance = KeyProvenance

    public var issuerID: String
    public var keyID: String
    public var state: KeyLifecycleState
    /// The state to which `resume` returns the key.
    public var suspendedFrom: KeyLifecycleState?
    public var since: Timestamp
    /// When a retiring key retires; nil if an administrator decides.
    public var retireAt: Timestamp?
    public var provenance: Provenance
    /// Nil until the fingerprint is known.
    public var fingerprint: PublicKeyFingerprint?
    /// When the key was reported as compromised. `restore` does not clear it.
    public var compromisedAt: Timestamp?
    /// When `restore` undid the compromise; nil while the key counts as compromised.
    public var restoredAt: Timestamp?
    /// The oldest change first.
    public var history: [KeyLifecycleChange]
    /// The number of changes that the history leaves out. The audit log has them.
    public var omitted: Int

    public init(
        issuerID: String, keyID: String, state: KeyLifecycleState, suspendedFrom: KeyLifecycleState? = nil,
        since: Timestamp,
        retireAt: Timestamp? = nil, provenance: Provenance, fingerprint: PublicKeyFingerprint? = nil,
        compromisedAt: Timestamp? = nil, restoredAt: Timestamp? = nil, history: [KeyLifecycleChange] = [],
        omitted: Int = 0
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

    /// Whether another person may have the key. Retirement or destruction does not change that.
    public var isCompromised: Bool { state == .compromised || (compromisedAt != nil && restoredAt == nil) }

    /// Whether signatures of the key prove nothing.
    var isUntrusted: Bool { isCompromised || state == .destroyed }

    /// The state before the last compromise.
    var stateBeforeCompromise: KeyLifecycleState? {
        history.last { $0.to == .compromised && $0.from != .compromised }?.from
    }

    /// Sets the time of the compromise. A further compromise, for example after retirement, keeps the first time.
    mutating func noteCompromise(at time: Timestamp) {
        if compromisedAt == nil || restoredAt != nil { (compromisedAt, restoredAt) = (time, nil) }
    }
}

extension KeyLifecycleRecord: JSONReadable, JSONWritable {
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
        // Earlier versions stored the compromise in the history only.
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
