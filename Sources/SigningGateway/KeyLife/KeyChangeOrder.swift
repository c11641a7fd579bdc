import SigningKit
public import StrictJSON

/// A change of a key's state that somebody wants.
public struct KeyChangeOrder: Sendable, Equatable {
    /// `activate`, `retire`, `suspend`, `resume`, `compromise` or `restore`.
    public var action: KeyLifeAction
    public var keyID: String
    public var reason: String
    /// With `activate`: the key that is active until then; it has to be said.
    public var retiring: String?
    /// With `activate`: how long the old key still answers for requests that name it, in seconds; more than none.
    public var overlap: Int?
    /// With `activate`: for so many seconds a failure of the new key brings the old one back.
    public var watch: Int?

    public init(
        _ action: KeyLifeAction, _ keyID: String, reason: String, retiring: String? = nil, overlap: Int? = nil,
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

/// What became of an order.
public enum KeyChangeAnswer: Sendable {
    /// The keys as they are now.
    case done([KeyLifeRecord])
    /// A second administrator has to approve.
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
