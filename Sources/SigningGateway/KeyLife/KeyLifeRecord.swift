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
    /// From the first to the last.
    public var history: [KeyLifeChange]

    public init(
        issuerID: String, keyID: String, state: KeyLifeState, suspendedFrom: KeyLifeState? = nil, since: Timestamp,
        retireAt: Timestamp? = nil, provenance: Provenance, fingerprint: PublicKeyFingerprint? = nil,
        history: [KeyLifeChange] = []
    ) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.state = state
        self.suspendedFrom = suspendedFrom
        self.since = since
        self.retireAt = retireAt
        self.provenance = provenance
        self.fingerprint = fingerprint
        self.history = history
    }
}

extension KeyLifeRecord: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            issuerID: try object.text("issuerId"), keyID: try object.text("keyId"), state: try object.choice("state"),
            suspendedFrom: try object.optionalChoice("suspendedFrom"), since: try object.time("since"),
            retireAt: try object.optionalTime("retireAt"), provenance: try object.choice("provenance"),
            fingerprint: try object.optionalText("fingerprint").flatMap { PublicKeyFingerprint($0) },
            history: try object.list("history"))
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
        writer.name("history")
        writer.array { writer in for change in history { change.write(to: &writer) } }
    }
}
