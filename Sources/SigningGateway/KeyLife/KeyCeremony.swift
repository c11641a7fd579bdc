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
    public var actor: String
    public var approver: String?
    public var begun: Timestamp

    public init(
        id: String, action: KeyLifeAction, issuerID: String, keyID: String, uri: String,
        fingerprint: PublicKeyFingerprint?, reason: String, actor: String, approver: String? = nil, begun: Timestamp
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
        self.begun = begun
    }
}

extension KeyCeremony: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            id: try object.text("id"), action: try object.choice("action"), issuerID: try object.text("issuerId"),
            keyID: try object.text("keyId"), uri: try object.text("uri"),
            fingerprint: try object.optionalText("fingerprint").flatMap { PublicKeyFingerprint($0) },
            reason: try object.text("reason"), actor: try object.text("actor"),
            approver: try object.optionalText("approver"), begun: try object.time("begun"))
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
            writer.member("begun", begun)
        }
    }
}
