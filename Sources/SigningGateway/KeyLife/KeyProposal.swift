import Crypto
public import SigningKit
public import StrictJSON

/// What one administrator wants and another has to approve (dual control).
public struct KeyProposal: Sendable, Equatable {
    public var id: String
    public var action: KeyLifeAction
    public var issuerID: String
    public var keyID: String
    /// Everything else that was asked for; by name.
    public var details: [String: String]
    public var reason: String
    public var proposer: String
    /// See `Administrator.proofs`.
    public var proposerProofs: [String]
    /// Names and proofs that the proposer got since, by changes of the configuration. They are no part of the digest.
    public internal(set) var laterProofs: [String] = []
    public var proposed: Timestamp
    public var expires: Timestamp
    /// Nil until somebody else approves.
    public var approver: String?
    public var approverProofs: [String]
    /// The number of its register; nil for one in the list that earlier versions wrote.
    var slot: Int?

    public init(
        id: String, action: KeyLifeAction, issuerID: String, keyID: String, details: [String: String] = [:],
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

    /// What an approval names: `sha256:` and the SHA-256 of everything that is proposed, in hexadecimal digits.
    public var digest: String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writeProposed(to: &$0) }
        let digits = SHA256.hash(data: writer.bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "sha256:" + digits.joined()
    }

    var proposingPerson: Administrator { Administrator(name: proposer, proofs: proposerProofs + laterProofs) }
    var approvingPerson: Administrator? { approver.map { Administrator(name: $0, proofs: approverProofs) } }

    /// Whether it is for exactly this work or change. All texts are compared by their bytes.
    func isFor(_ action: KeyLifeAction, issuerID: String, keyID: String, details: [String: String]) -> Bool {
        self.action == action && self.issuerID.hasSameBytes(as: issuerID) && self.keyID.hasSameBytes(as: keyID)
            && self.details.mapValues(ExactText.init) == details.mapValues(ExactText.init)
    }

    /// After a change of the configuration: its persons are the same under new names and proofs.
    mutating func recognize(_ persons: ConfiguredPersons) {
        laterProofs += persons.news(of: proposingPerson)
        if let approvingPerson { approverProofs += persons.news(of: approvingPerson) }
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
