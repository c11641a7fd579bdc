import Crypto
import Encodings
import Signing
public import SigningKit
public import StrictJSON

/// A change that one administrator proposes and another must approve (dual control).
public struct KeyProposal: Codable, Sendable, Equatable {
    public var id: String
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The other parts of the order, by name.
    @OmittedIfEmpty public var details: [String: String] = [:]
    public var reason: String
    public var proposer: String
    /// See `Administrator.proofs`.
    @OmittedIfEmpty public var proposerProofs: [String] = []
    /// Names and proofs that later configurations gave to the proposer. They are not part of the digest.
    @OmittedIfEmpty public internal(set) var laterProofs: [String] = []
    public var proposed: Timestamp
    public var expires: Timestamp
    /// Nil until another administrator approves.
    public var approver: String?
    @OmittedIfEmpty public var approverProofs: [String] = []
    /// The number of its register; nil for a proposal in the list of earlier versions.
    var registerNumber: Int?

    private enum CodingKeys: String, CodingKey {
        case id, action, details, reason, proposer, proposerProofs, laterProofs, proposed, expires, approver
        case approverProofs
        case issuerID = "issuerId"
        case keyID = "keyId"
    }

    /// The text that an approval names: `sha256:` and the SHA-256 of the proposed members, in hexadecimal digits.
    public var digest: String {
        "sha256:" + Hexadecimal.encode(SHA256.hash(data: JSONText.encode(proposedMembers)))
    }

    var proposingPerson: Administrator { Administrator(name: proposer, proofs: proposerProofs + laterProofs) }
    var approvingPerson: Administrator? { approver.map { Administrator(name: $0, proofs: approverProofs) } }

    /// Whether the proposal is for exactly this change. Texts are compared by their bytes.
    func isFor(_ action: KeyLifecycleAction, issuerID: String, keyID: String, details: [String: String]) -> Bool {
        self.action == action && self.issuerID.hasSameBytes(as: issuerID) && self.keyID.hasSameBytes(as: keyID)
            && self.details.mapValues(ExactText.init) == details.mapValues(ExactText.init)
    }

    /// Adds the new names and proofs of its persons after a change of the configuration.
    mutating func addIdentities(_ persons: ConfiguredPersons) {
        laterProofs += persons.newIdentities(of: proposingPerson)
        if let approvingPerson { approverProofs += persons.newIdentities(of: approvingPerson) }
    }

    /// Adds the names and proofs that the same proposal has among `known` and the register does not have yet.
    mutating func keepIdentities(of known: [KeyProposal]) {
        guard let same = known.first(where: { $0.id == id }) else { return }
        laterProofs += same.laterProofs.filter { !laterProofs.contains($0) }
        if approver == same.approver { approverProofs += same.approverProofs.filter { !approverProofs.contains($0) } }
    }
}

extension KeyProposal {
    public func encode(to encoder: any Encoder) throws {
        try proposedMembers.encode(to: encoder)
        let others: JSONMembers = [
            "digest": digest,
            "laterProofs": laterProofs.isEmpty ? nil : laterProofs,
            "approver": approver,
            "approverProofs": approver == nil ? nil : approverProofs,
        ]
        try others.encode(to: encoder)
    }

    /// The members that the digest covers. A change of them, or of their order, changes every digest.
    private var proposedMembers: JSONMembers {
        [
            "id": id,
            "action": action,
            "issuerId": issuerID,
            "keyId": keyID,
            "details": details.isEmpty ? nil : details,
            "reason": reason,
            "proposer": proposer,
            "proposerProofs": proposerProofs,
            "proposed": proposed,
            "expires": expires,
        ]
    }
}
