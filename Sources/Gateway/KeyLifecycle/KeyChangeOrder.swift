import SigningKit
public import StrictJSON

/// An order to change a key's state. In a request, the path has the action and the key.
public struct KeyChangeOrder: Encodable, Sendable, Equatable {
    /// `activate`, `retire`, `suspend`, `resume`, `compromise` or `restore`.
    public var action: KeyLifecycleAction
    public var keyID: String
    public var reason: String
    /// For `activate`: the key that is active now. Required if there is one.
    public var retiring: String?
    /// For `activate`: how long the old key signs requests that name it, in seconds. Greater than 0.
    public var overlap: Int?
    /// For `activate`: for how many seconds a failure of the new key makes the old key active again.
    public var watch: Int?

    private enum CodingKeys: String, CodingKey {
        case reason, retiring, overlap, watch
    }

    public init(
        _ action: KeyLifecycleAction, _ keyID: String, reason: String, retiring: String? = nil, overlap: Int? = nil,
        watch: Int? = nil
    ) {
        self.action = action
        self.keyID = keyID
        self.reason = reason
        self.retiring = retiring
        self.overlap = overlap
        self.watch = watch
    }
}

extension KeyChangeOrder {
    /// The actions that a request can order.
    public static let actions: [KeyLifecycleAction] = [.activate, .retire, .suspend, .resume, .compromise, .restore]

    public init(_ action: KeyLifecycleAction, _ keyID: String, from value: JSONValue) throws(JSONReadError) {
        let isActivation = action == .activate
        let object = try value.object(members: ["reason"] + (isActivation ? ["retiring", "overlap", "watch"] : []))
        self.init(
            action, keyID, reason: try object.decode("reason"), retiring: try object.decodeIfPresent("retiring"),
            overlap: try Self.seconds("overlap", object), watch: try Self.seconds("watch", object))
    }

    private static func seconds(_ name: String, _ object: JSONObject) throws(JSONReadError) -> Int? {
        guard let seconds: Int = try object.decodeIfPresent(name) else { return nil }
        guard (0...315_360_000).contains(seconds) else {
            throw JSONReadError(.invalid("must be seconds, from 0 to ten years of them"), at: name)
        }
        return seconds
    }
}

/// The details of a proposal or an activation for the order.
extension KeyChangeOrder {
    var details: [String: String] {
        ["retiring": retiring, "overlap": overlap?.description, "watch": watch?.description].compactMapValues(\.self)
    }

    init(_ action: KeyLifecycleAction, _ keyID: String, reason: String, details: [String: String]) {
        self.init(
            action, keyID, reason: reason, retiring: details["retiring"],
            overlap: details["overlap"].flatMap(Int.init), watch: details["watch"].flatMap(Int.init))
    }

    init(_ proposal: KeyProposal) {
        self.init(proposal.action, proposal.keyID, reason: proposal.reason, details: proposal.details)
    }
}
