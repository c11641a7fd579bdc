public import SigningKit
public import StrictJSON

/// An order to begin a provisioning job.
public struct ProvisioningOrder: Sendable, Equatable {
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String

    public init(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, uri: String, fingerprint: PublicKeyFingerprint?,
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

/// The result of an order.
public enum ProvisioningAnswer: Sendable {
    /// The job is recorded. The administrator now does the work and reports its result.
    case begun(ProvisioningJob)
    /// A second administrator must approve. The same order then begins the job.
    case proposed(KeyProposal)
}

/// The result of a report about a job.
public enum ProvisioningOutcome: Sendable {
    /// The job has ended with this record of the key.
    case ended(KeyLifecycleRecord)
    /// The gateway will look later: no configured key is on that token, or the token does not answer.
    case waiting(ProvisioningJob)
}

/// The result of a job as reported by the administrator who did the work.
public struct ProvisioningResult: Sendable, Equatable {
    /// Whether the key is there and has signed a proof, or a search has shown that it is gone.
    public var isSuccess: Bool
    public var fingerprint: PublicKeyFingerprint?
    /// The evidence or the error by name, such as `tokenSerial`, `method`, `CKA_EXTRACTABLE`.
    public var evidence: [String: String]

    public init(isSuccess: Bool, fingerprint: PublicKeyFingerprint?, evidence: [String: String]) {
        self.isSuccess = isSuccess
        self.fingerprint = fingerprint
        self.evidence = evidence
    }

    /// The evidence for the register. The prefix `reported.` marks what the gateway did not see itself.
    var reported: [String: String] {
        Dictionary(evidence.map { ("reported.\($0.key)", $0.value) }) { first, _ in first }
    }
}

extension ProvisioningAnswer: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self =
            switch try object.optional("proposal", KeyProposal.init(from:)) {
            case let proposal?: .proposed(proposal)
            case nil: .begun(try object.required("ceremony", ProvisioningJob.init(from:)))
            }
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .begun(let job):
                writer.member("outcome", "begun")
                writer.name("ceremony")
                job.write(to: &writer)
            case .proposed(let proposal):
                writer.member("outcome", "proposed")
                writer.name("proposal")
                proposal.write(to: &writer)
            }
        }
    }
}

extension ProvisioningOutcome: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let job = try value.anyObject().optional("ceremony", ProvisioningJob.init(from:))
        self = if let job { .waiting(job) } else { .ended(try KeyLifecycleRecord(from: value)) }
    }

    public func write(to writer: inout JSONWriter) {
        switch self {
        case .ended(let record): record.write(to: &writer)
        case .waiting(let job):
            writer.object { writer in
                writer.member("outcome", "waiting")
                writer.name("ceremony")
                job.write(to: &writer)
            }
        }
    }
}

extension ProvisioningOrder: JSONReadable, JSONWritable {
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

extension ProvisioningResult: JSONReadable, JSONWritable {
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
