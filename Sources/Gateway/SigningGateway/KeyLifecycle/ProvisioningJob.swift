public import SigningKit
public import StrictJSON

/// Work on a token: an import, a generation or a destruction. Its beginning and its end are recorded, so that an
/// unfinished job is known after a crash.
public struct ProvisioningJob: Sendable, Equatable {
    public var id: String
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    /// The fingerprint of the key; nil for a key that is not generated yet.
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String
    /// The administrator who ordered it: with dual control, the proposer.
    public var actor: String
    public var approver: String?
    /// See `Administrator.proofs`. They include those of the administrators who approved a takeover.
    public var approverProofs: [String]
    /// The administrator who does the work, and the only one who may end it.
    public var worker: String
    public var workerProofs: [String]
    public var begun: Timestamp
    /// The result that the administrator reported and the gateway has not verified yet; nil before.
    public var report: ProvisioningResult?

    public init(
        id: String, action: KeyLifecycleAction, issuerID: String, keyID: String, uri: String,
        fingerprint: PublicKeyFingerprint?, reason: String, actor: String, approver: String? = nil,
        approverProofs: [String] = [], worker: String? = nil, workerProofs: [String] = [], begun: Timestamp,
        report: ProvisioningResult? = nil
    ) {
        self.id = id
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.uri = uri
        self.fingerprint = fingerprint
        self.reason = reason
        self.actor = actor
        self.approver = approver
        self.approverProofs = approverProofs
        self.worker = worker ?? actor
        self.workerProofs = workerProofs
        self.begun = begun
        self.report = report
    }

    var workingPerson: Administrator { Administrator(name: worker, proofs: workerProofs) }
    /// All administrators who approved the job or a takeover, as one person.
    var approvingPerson: Administrator? {
        if let approver { return Administrator(name: approver, proofs: approverProofs) }
        // A takeover needs an approval even without dual control. The register then has only the approver's proofs.
        return approverProofs.isEmpty ? nil : Administrator(name: "", proofs: approverProofs)
    }

    /// Adds the new names and proofs of its persons after a change of the configuration.
    mutating func addIdentities(_ persons: ConfiguredPersons) {
        workerProofs += persons.newIdentities(of: workingPerson)
        if let approvingPerson { approverProofs += persons.newIdentities(of: approvingPerson) }
    }
}

extension ProvisioningJob: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            id: try object.text("id"), action: try object.choice("action"), issuerID: try object.text("issuerId"),
            keyID: try object.text("keyId"), uri: try object.text("uri"),
            fingerprint: try object.optionalFingerprint("fingerprint"),
            reason: try object.text("reason"), actor: try object.text("actor"),
            approver: try object.optionalText("approver"),
            approverProofs: try object.optionalTextList("approverProofs"),
            worker: try object.optionalText("worker"), workerProofs: try object.optionalTextList("workerProofs"),
            begun: try object.time("begun"), report: try object.optional("report", ProvisioningResult.init(from:)))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("action", action.rawValue)
            writer.member("issuerId", issuerID)
            writer.member("keyId", keyID)
            writer.member("uri", uri)
            if let fingerprint { writer.member("fingerprint", fingerprint.description) }
            writer.member("reason", reason)
            writer.member("actor", actor)
            if let approver { writer.member("approver", approver) }
            if approver != nil || !approverProofs.isEmpty { writer.member("approverProofs", approverProofs) }
            writer.member("worker", worker)
            writer.member("workerProofs", workerProofs)
            writer.member("begun", begun)
            guard let report else { return }
            writer.name("report")
            report.write(to: &writer)
        }
    }
}
