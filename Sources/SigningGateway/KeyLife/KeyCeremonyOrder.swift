public import SigningKit
public import StrictJSON

/// Work on a token that somebody is about to do.
public struct KeyCeremonyOrder: Sendable, Equatable {
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifeAction
    public var issuerID: String
    public var keyID: String
    /// Where the key is or is to be, without what leads to a secret.
    public var uri: String
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String

    public init(
        _ action: KeyLifeAction, issuerID: String, keyID: String, uri: String, fingerprint: PublicKeyFingerprint?,
        reason: String
    ) {
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.uri = uri
        self.fingerprint = fingerprint
        self.reason = reason
    }
}

/// What became of it.
public enum KeyCeremonyAnswer: Sendable {
    /// Recorded: go on, and say how it ended.
    case begun(KeyCeremony)
    /// A second administrator has to approve; then the same order again begins.
    case proposed(KeyProposal)
}

/// What the gateway made of the end of work on a token.
public enum KeyCeremonyOutcome: Sendable {
    /// The key's record as it is now.
    case ended(KeyLifeRecord)
    /// The gateway cannot look now: no key of its configuration is in that place, or the place does not answer. It looks again.
    case waiting(KeyCeremony)
}

/// How the work on the token ended, as the worker says.
public struct KeyCeremonyEnd: Sendable, Equatable {
    /// Whether the key is in its place and proven, or gone and looked for.
    public var isSuccess: Bool
    public var fingerprint: PublicKeyFingerprint?
    /// What proves it, or why it failed; by name, such as `tokenSerial`, `method`, `CKA_EXTRACTABLE`.
    public var evidence: [String: String]

    public init(isSuccess: Bool, fingerprint: PublicKeyFingerprint?, evidence: [String: String]) {
        self.isSuccess = isSuccess
        self.fingerprint = fingerprint
        self.evidence = evidence
    }

    /// As the register has it: what the gateway did not see for itself bears the mark of a report.
    var reported: [String: String] {
        Dictionary(evidence.map { ("reported.\($0.key)", $0.value) }) { first, _ in first }
    }
}

extension KeyCeremonyAnswer: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self =
            switch try object.optional("proposal", KeyProposal.init(from:)) {
            case let proposal?: .proposed(proposal)
            case nil: .begun(try object.required("ceremony", KeyCeremony.init(from:)))
            }
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .begun(let ceremony):
                writer.member("outcome", "begun")
                writer.name("ceremony")
                ceremony.write(to: &writer)
            case .proposed(let proposal):
                writer.member("outcome", "proposed")
                writer.name("proposal")
                proposal.write(to: &writer)
            }
        }
    }
}

extension KeyCeremonyOutcome: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let ceremony = try value.anyObject().optional("ceremony", KeyCeremony.init(from:))
        self = if let ceremony { .waiting(ceremony) } else { .ended(try KeyLifeRecord(from: value)) }
    }

    public func write(to writer: inout JSONWriter) {
        switch self {
        case .ended(let record): record.write(to: &writer)
        case .waiting(let ceremony):
            writer.object { writer in
                writer.member("outcome", "waiting")
                writer.name("ceremony")
                ceremony.write(to: &writer)
            }
        }
    }
}

extension KeyCeremonyOrder: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: ["action", "issuerId", "keyId", "uri", "fingerprint", "reason"])
        self.init(
            try object.choice("action"), issuerID: try object.text("issuerId"), keyID: try object.text("keyId"),
            uri: try object.text("uri"), fingerprint: try object.optionalFingerprint("fingerprint"),
            reason: try object.text("reason"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("action", action.rawValue)
            writer.member("issuerId", issuerID)
            writer.member("keyId", keyID)
            writer.member("uri", uri)
            if let fingerprint { writer.member("fingerprint", fingerprint.description) }
            writer.member("reason", reason)
        }
    }
}

extension KeyCeremonyEnd: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: ["succeeded", "fingerprint", "evidence"])
        self.init(
            isSuccess: try object.flag("succeeded"),
            fingerprint: try object.optionalFingerprint("fingerprint"), evidence: try object.texts("evidence"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("succeeded", isSuccess)
            if let fingerprint { writer.member("fingerprint", fingerprint.description) }
            writer.member("evidence", evidence)
        }
    }
}
