import SigningKit
public import StrictJSON

/// An order to change a key's state.
public struct KeyChangeOrder: Sendable, Equatable {
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

/// The result of an order.
public enum KeyChangeAnswer: Sendable {
    /// The new records of the changed keys.
    case done([KeyLifecycleRecord])
    /// A second administrator must approve the order.
    case proposed(KeyProposal)
}

extension KeyChangeAnswer: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self =
            switch try object.optional("proposal", KeyProposal.init(from:)) {
            case let proposal?: .proposed(proposal)
            case nil: .done(try object.list("keys"))
            }
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .done(let records):
                writer.member("outcome", "done")
                writer.name("keys")
                writer.array { writer in for record in records { record.write(to: &writer) } }
            case .proposed(let proposal):
                writer.member("outcome", "proposed")
                writer.name("proposal")
                proposal.write(to: &writer)
            }
        }
    }
}
