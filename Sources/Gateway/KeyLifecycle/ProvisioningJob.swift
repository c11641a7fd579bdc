public import Crypto
import Encodings
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
}

/// An order to begin a provisioning job.
public struct ProvisioningOrder: Codable, Sendable, Equatable {
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    /// Further places of the key, in order, without attributes that lead to a secret.
    @OmittedIfEmpty public var replicas: [String]
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String
    /// The job that the order continues, which the caller has seen; nil for any. The order is refused if it has ended.
    public var continues: String?

    /// All places, in order.
    var uris: [String] { [uri] + replicas }

    private enum CodingKeys: String, ClosedCodingKey {
        case action
        case issuerID = "issuerId"
        case keyID = "keyId"
        case uri, replicas, fingerprint, reason, continues
    }

    public init(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, uri: String, replicas: [String] = [],
        fingerprint: PublicKeyFingerprint?, reason: String
    ) {
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.uri = uri
        self.replicas = replicas
        self.fingerprint = fingerprint
        self.reason = reason
    }
}

/// The result of a job as reported by the administrator who did the work.
public struct ProvisioningResult: Codable, Sendable, Equatable {
    /// Whether the key is there and has signed a proof, or a search has shown that it is gone.
    public var isSuccess: Bool
    /// The place that the result is about; nil for a job with one place.
    public var uri: String?
    public var fingerprint: PublicKeyFingerprint?
    /// For a failure: whether the token may have changed, so that the job stays open.
    public var mayHaveChanged: Bool?
    /// The evidence or the error by name, such as `tokenSerial`, `method`, `CKA_EXTRACTABLE`.
    @OmittedIfEmpty public var evidence: [String: String]

    private enum CodingKeys: String, ClosedCodingKey {
        case isSuccess = "succeeded"
        case uri, fingerprint, mayHaveChanged, evidence
    }

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

/// The public key for a token without a public key object. The gateway needs it to verify the key's proof.
extension ProvisioningResult {
    /// The evidence with this name is the SubjectPublicKeyInfo in Base64.
    private static let publicKeyName = "publicKey"

    /// Adds the public key, for an import into such a token.
    public func with(_ publicKey: P256.Signing.PublicKey) -> ProvisioningResult {
        var end = self
        let text = Base64.standard.encode(publicKey.derRepresentation)
        end.evidence[Self.publicKeyName] = String(decoding: text, as: UTF8.self)
        return end
    }

    /// The public key in X9.63 form; nil if it is missing or has another fingerprint.
    func publicKey(of fingerprint: PublicKeyFingerprint?) -> [UInt8]? {
        guard let text = evidence[Self.publicKeyName], let der = Base64.standard.decode(text.utf8),
            let key = P256.Signing.PublicKey(subjectPublicKeyInfo: der), PublicKeyFingerprint(of: key) == fingerprint
        else { return nil }
        return Array(key.x963Representation)
    }
}

extension ProvisioningResult {
    /// Truncates the values to the limit of the register, because messages of a library or a token may be longer.
    public func shortened() -> ProvisioningResult {
        var end = self
        end.evidence = evidence.mapValues { value in
            var scalars = String.UnicodeScalarView()
            var count = 0
            for scalar in value.unicodeScalars {
                let scalar = scalar.properties.generalCategory == .control ? " " : scalar
                count += Character(scalar).utf8.count
                guard count <= KeyLifecycleLimits.evidenceValue else { break }
                scalars.append(scalar)
            }
            return String(scalars)
        }
        return end
    }
}

/// The answer to an order, an approval, or the report of a provisioning job.
public enum KeyLifecycleAnswer: Sendable {
    /// The change is made. These are the new records of the changed keys, and in a fleet the gateways that use them.
    case done([KeyLifecycleRecord], FleetConfirmation? = nil)
    /// The activation waits for gateways of the fleet, with the names of those that have not proved the key.
    case activating(FleetActivation, waitingFor: [String] = [])
    /// A second administrator must approve the order. With the approval, the same order begins the provisioning job.
    case proposed(KeyProposal)
    /// The provisioning job is recorded. The administrator now does the work and reports its result.
    case begun(ProvisioningJob)
    /// The provisioning job is reported. The gateway will look later: no configured key is on that token, or the token
    /// does not answer.
    case waiting(ProvisioningJob)
    /// The provisioning job has ended with this record of the key.
    case ended(KeyLifecycleRecord)
}

extension KeyLifecycleAnswer: Codable {
    private enum CodingKeys: String, CodingKey {
        case outcome, keys, proposal, ceremony, fleet, activation, waitingFor
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self =
            switch try members.decodeIfPresent(String.self, forKey: .outcome) {
            case "done":
                .done(
                    try members.decode([KeyLifecycleRecord].self, forKey: .keys),
                    try members.decodeIfPresent(FleetConfirmation.self, forKey: .fleet))
            case "activating":
                .activating(
                    try members.decode(FleetActivation.self, forKey: .activation),
                    waitingFor: try members.decode([String].self, forKey: .waitingFor))
            case "proposed": .proposed(try members.decode(KeyProposal.self, forKey: .proposal))
            case "begun": .begun(try members.decode(ProvisioningJob.self, forKey: .ceremony))
            case "waiting": .waiting(try members.decode(ProvisioningJob.self, forKey: .ceremony))
            default: .ended(try KeyLifecycleRecord(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers
        switch self {
        case .done(let records, let fleet): members = ["outcome": "done", "keys": records, "fleet": fleet]
        case .activating(let activation, let gateways):
            members = ["outcome": "activating", "activation": activation, "waitingFor": gateways]
        case .proposed(let proposal): members = ["outcome": "proposed", "proposal": proposal]
        case .begun(let job): members = ["outcome": "begun", "ceremony": job]
        case .waiting(let job): members = ["outcome": "waiting", "ceremony": job]
        case .ended(let record): return try record.encode(to: encoder)
        }
        try members.encode(to: encoder)
    }
}
