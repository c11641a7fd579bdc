public import SigningKit
public import StrictJSON

/// What one administrator wants and another has to approve (dual control, PCI DSS 4 §3.7.6).
public struct KeyProposal: Sendable, Equatable {
    public var id: String
    public var action: KeyLifeAction
    public var issuerID: String
    public var keyID: String
    /// Everything else that was asked for; by name.
    public var details: [String: String]
    public var reason: String
    public var proposer: String
    public var proposed: Timestamp
    public var expires: Timestamp
    /// Nil until somebody else approves.
    public var approver: String?

    public init(
        id: String, action: KeyLifeAction, issuerID: String, keyID: String, details: [String: String] = [:],
        reason: String, proposer: String, proposed: Timestamp, expires: Timestamp, approver: String? = nil
    ) {
        self.id = id
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.details = details
        self.reason = reason
        self.proposer = proposer
        self.proposed = proposed
        self.expires = expires
        self.approver = approver
    }
}

extension KeyProposal: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            id: try object.text("id"), action: try object.choice("action"), issuerID: try object.text("issuerId"),
            keyID: try object.text("keyId"), details: try object.texts("details"), reason: try object.text("reason"),
            proposer: try object.text("proposer"), proposed: try object.time("proposed"),
            expires: try object.time("expires"), approver: try object.optionalText("approver"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("action", action.rawValue)
            writer.member("issuerId", issuerID)
            writer.member("keyId", keyID)
            if !details.isEmpty { writer.member("details", details) }
            writer.member("reason", reason)
            writer.member("proposer", proposer)
            writer.member("proposed", proposed)
            writer.member("expires", expires)
            if let approver { writer.member("approver", approver) }
        }
    }
}
