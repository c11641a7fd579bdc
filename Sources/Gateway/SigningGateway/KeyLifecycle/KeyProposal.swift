import Crypto
import Encodings
public import SigningKit
public import StrictJSON

/// A change that one administrator proposes and another must approve (dual control).
public struct KeyProposal: Sendable, Equatable {
    public var id: String
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The other parts of the order, by name.
    public var details: [String: String]
    public var reason: String
    public var proposer: String
    /// See `Administrator.proofs`.
    public var proposerProofs: [String]
    /// Names and proofs that later configurations gave to the proposer. They are not part of the digest.
    public internal(set) var laterProofs: [String] = []
    public var proposed: Timestamp
    public var expires: Timestamp
    /// Nil until another administrator approves.
    public var approver: String?
    public var approverProofs: [String]
    /// The number of its register; nil for a proposal in the list of earlier versions.
    var registerNumber: Int?

    public init(
        id: String, action: KeyLifecycleAction, issuerID: String, keyID: String, details: [String: String] = [:],
        reason: String, proposer: String, proposerProofs: [String] = [], proposed: Timestamp, expires: Timestamp,
        approver: String? = nil, approverProofs: [String] = []
    ) {
        self.id = id
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.details = details
        self.reason = reason
        self.proposer = proposer
        self.proposerProofs = proposerProofs
        self.proposed = proposed
        self.expires = expires
        self.approver = approver
        self.approverProofs = approverProofs
    }

    /// The text that an approval names: `sha256:` and the SHA-256 of the proposed members, in hexadecimal digits.
    public var digest: String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writeProposed(to: &$0) }
        return "sha256:" + Hexadecimal.encode(SHA256.hash(data: writer.bytes))
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
}

extension KeyProposal: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            id: try object.text("id"), action: try object.choice("action"), issuerID: try object.text("issuerId"),
            keyID: try object.text("keyId"), details: try object.texts("details"), reason: try object.text("reason"),
            proposer: try object.text("proposer"), proposerProofs: try object.optionalTextList("proposerProofs"),
            proposed: try object.time("proposed"), expires: try object.time("expires"),
            approver: try object.optionalText("approver"),
            approverProofs: try object.optionalTextList("approverProofs"))
        laterProofs = try object.optionalTextList("laterProofs")
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writeProposed(to: &writer)
            writer.member("digest", digest)
            if !laterProofs.isEmpty { writer.member("laterProofs", laterProofs) }
            guard let approver else { return }
            writer.member("approver", approver)
            writer.member("approverProofs", approverProofs)
        }
    }

    private func writeProposed(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("action", action.rawValue)
        writer.member("issuerId", issuerID)
        writer.member("keyId", keyID)
        if !details.isEmpty { writer.member("details", details) }
        writer.member("reason", reason)
        writer.member("proposer", proposer)
        writer.member("proposerProofs", proposerProofs)
        writer.member("proposed", proposed)
        writer.member("expires", expires)
    }
}
