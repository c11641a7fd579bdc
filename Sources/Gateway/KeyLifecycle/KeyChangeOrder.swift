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

/// The result of an order.
public enum KeyChangeAnswer: Sendable {
    /// The new records of the changed keys.
    case done([KeyLifecycleRecord])
    /// A second administrator must approve the order.
    case proposed(KeyProposal)
}

extension KeyChangeAnswer: Codable {
    private enum CodingKeys: String, CodingKey {
        case keys, proposal
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self =
            switch try members.decodeIfPresent(KeyProposal.self, forKey: .proposal) {
            case let proposal?: .proposed(proposal)
            case nil: .done(try members.decode([KeyLifecycleRecord].self, forKey: .keys))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers =
            switch self {
            case .done(let records): ["outcome": "done", "keys": records]
            case .proposed(let proposal): ["outcome": "proposed", "proposal": proposal]
            }
        try members.encode(to: encoder)
    }
}
