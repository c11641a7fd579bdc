public import SigningKit
public import StrictJSON

/// One change of a key's state in the register and the audit log.
public struct KeyLifecycleChange: Sendable, Equatable {
    public var time: Timestamp
    public var action: KeyLifecycleAction
    /// Nil for the first change.
    public var from: KeyLifecycleState?
    public var to: KeyLifecycleState
    /// The client that ordered the change, or `gateway`.
    public var actor: String
    /// The second administrator under dual control.
    public var approver: String?
    public var reason: String
    /// When a retiring key retires.
    public var retireAt: Timestamp?
    /// The evidence by name, such as attributes that were read back.
    public var evidence: [String: String]

    public init(
        time: Timestamp, action: KeyLifecycleAction, from: KeyLifecycleState?, to: KeyLifecycleState, actor: String,
        approver: String? = nil, reason: String, retireAt: Timestamp? = nil, evidence: [String: String] = [:]
    ) {
        self.time = time
        self.action = action
        self.from = from
        self.to = to
        self.actor = actor
        self.approver = approver
        self.reason = reason
        self.retireAt = retireAt
        self.evidence = evidence
    }
}

extension KeyLifecycleChange: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            time: try object.time("at"), action: try object.choice("action"),
            from: try object.optionalChoice("from"), to: try object.choice("to"),
            actor: try object.text("actor"), approver: try object.optionalText("approver"),
            reason: try object.text("reason"), retireAt: try object.optionalTime("retireAt"),
            evidence: try object.texts("evidence"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", time)
            writer.member("action", action.rawValue)
            if let from { writer.member("from", from.rawValue) }
            writer.member("to", to.rawValue)
            writer.member("actor", actor)
            if let approver { writer.member("approver", approver) }
            writer.member("reason", reason)
            if let retireAt { writer.member("retireAt", retireAt) }
            if !evidence.isEmpty { writer.member("evidence", evidence) }
        }
    }
}
