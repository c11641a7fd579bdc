/// An object for output, as a literal. Its members keep their order, and those that are nil are absent.
public struct JSONMembers: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [(name: String, value: (any Encodable)?)]

    public init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        self.members = members.map { ($0.0, $0.1) }
    }

    /// For names that are known only at run time. A name may occur several times.
    public init(_ members: some Sequence<(String, (any Encodable)?)>) {
        self.members = members.map { ($0.0, $0.1) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            if let value { try container.encode(value, forKey: Name(stringValue: name)) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
