import Signing
public import SigningKit
public import StrictJSON

/// Work on a token: an import, a generation or a destruction. Its beginning and its end are recorded, so that an
/// unfinished job is known after a crash.
public struct ProvisioningJob: Codable, Sendable, Equatable {
    public var id: String
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    /// Further places of the key, in order, without attributes that lead to a secret. Empty for one place.
    @OmittedIfEmpty public var replicas: [String] = []
    /// The fingerprint of the key; nil for a key that is not generated yet.
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String
    /// The administrator who ordered it: with dual control, the proposer.
    public var actor: String
    public var approver: String?
    /// See `Administrator.proofs`. They include those of the administrators who approved a takeover.
    @OmittedIfEmpty public var approverProofs: [String] = []
    /// The administrator who does the work, and the only one who may end it.
    public var worker: String {
        get { recordedWorker ?? actor }
        set { recordedWorker = newValue }
    }
    /// Nil in a register of an earlier version.
    var recordedWorker: String?
    @OmittedIfEmpty public var workerProofs: [String] = []
    public var begun: Timestamp
    /// How often a command began this work, or work on the key that it replaced. Nil in a register of an earlier version.
    var recordedRuns: Int?
    public var runs: Int { recordedRuns ?? 1 }
    /// The result that the administrator reported and the gateway has not verified yet; nil before, and for a job with
    /// several places.
    public var report: ProvisioningResult?
    /// The results so far of a job with several places. Empty for one place.
    @OmittedIfEmpty public var results: [ReplicaResult] = []

    private enum CodingKeys: String, CodingKey {
        case id, action
        case issuerID = "issuerId"
        case keyID = "keyId"
        case uri, replicas, fingerprint, reason, actor, approver, approverProofs
        case recordedWorker = "worker"
        case workerProofs, begun
        case recordedRuns = "runs"
        case report, results
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

    /// Adds the names and proofs that the same job has among `known` and the register does not have yet.
    mutating func keepIdentities(of known: [ProvisioningJob]) {
        guard let same = known.first(where: { $0.id == id }) else { return }
        // Each run begins with the proofs that the worker has then.
        if worker == same.worker, runs == same.runs {
            workerProofs += same.workerProofs.filter { !workerProofs.contains($0) }
        }
        if approver == same.approver { approverProofs += same.approverProofs.filter { !approverProofs.contains($0) } }
    }
}
