import StrictJSON

/// An object of a request. Members that are not listed are refused by name; an optional null counts as absent.
struct Shape: Sendable {
    struct Member: Sendable {
        let name: String
        let isRequired: Bool
        let rule: Rule

        static func required(_ name: String, _ rule: Rule) -> Member {
            Member(name: name, isRequired: true, rule: rule)
        }

        static func optional(_ name: String, _ rule: Rule) -> Member {
            Member(name: name, isRequired: false, rule: rule)
        }
    }

    private let members: [Member]
    private let names: [String]
    /// Rules about combinations of members.
    private let together: @Sendable (JSONObject) throws(JSONReadError) -> Void

    init(
        _ members: [Member],
        together: @escaping @Sendable (JSONObject) throws(JSONReadError) -> Void = { _ throws(JSONReadError) in }
    ) {
        self.members = members
        names = members.map(\.name)
        self.together = together
    }

    init(_ members: Member...) {
        self.init(members)
    }

    func check(_ value: JSONValue, _ currency: Currency?) throws(JSONReadError) {
        let object = try value.object(members: names)
        for member in members { try check(member, of: object, currency) }
        try together(object)
    }

    private func check(_ member: Member, of object: JSONObject, _ currency: Currency?) throws(JSONReadError) {
        guard member.isRequired || object.given(member.name) != nil else { return }
        try object.required(member.name) { value throws(JSONReadError) in try member.rule.check(value, currency) }
    }
}

/// Apple's Java library writes null for each optional member of a request that is not set.
extension JSONObject {
    /// The value of a member; nil when the member is absent or null.
    func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value.kind != .null else { return nil }
        return value
    }

    func optionalUnlessNull<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value? {
        given(name) == nil ? nil : try required(name, read)
    }
}
