public import SigningKit
public import StrictJSON

/// Work on a token that begins with an entry and ends with one: an import, a generation or a destruction. One that
/// has only begun is found again after a crash.
public struct KeyCeremony: Sendable, Equatable {
    public var id: String
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifeAction
    public var issuerID: String
    public var keyID: String
    /// Where the key is or is to be, without what leads to a secret.
    public var uri: String
    /// Of the key that comes or goes; nil for one that is not made yet.
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String
    /// The administrator who ordered it: with dual control, the proposer.
    public var actor: String
    public var approver: String?
    /// See `Administrator.proofs`. Those of the administrators who approved a take-over are among them.
    public var approverProofs: [String]
    /// The administrator who does the work, and the only one who may end it.
    public var worker: String
    public var workerProofs: [String]
    public var begun: Timestamp
    /// What the worker said at the end, until the gateway has seen the key; nil before.
    public var report: KeyCeremonyEnd?

    public init(
        id: String, action: KeyLifeAction, issuerID: String, keyID: String, uri: String,
        fingerprint: PublicKeyFingerprint?, reason: String, actor: String, approver: String? = nil,
        approverProofs: [String] = [], worker: String? = nil, workerProofs: [String] = [], begun: Timestamp,
        report: KeyCeremonyEnd? = nil
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
    /// Everybody who approved the work, or that another administrator takes it over.
    var approvingPerson: Administrator? {
        if let approver { return Administrator(name: approver, proofs: approverProofs) }
        // A take-over is approved in an account without dual control, too. The register names such an approver by proofs alone.
        return approverProofs.isEmpty ? nil : Administrator(name: "", proofs: approverProofs)
    }

    /// After a change of the configuration: its persons are the same under new names and proofs.
    mutating func recognize(_ persons: ConfiguredPersons) {
        workerProofs += persons.news(of: workingPerson)
        if let approvingPerson { approverProofs += persons.news(of: approvingPerson) }
    }
}

extension KeyCeremony: JSONReadable, JSONWritable {
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
            begun: try object.time("begun"), report: try object.optional("report", KeyCeremonyEnd.init(from:)))
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
