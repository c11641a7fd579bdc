import SigningKit

extension IdentifierForm {
    /// Nil for a claim that is no identifier. Apple refuses a token with an identifier of another form.
    init?(of member: ServiceTokenMember, for family: ServiceKeyFamily) {
        if let identifier = member.identifier {
            self.init(of: identifier, for: family)
        } else if ["bid", "sub"].contains(member.name) {
            self = .application
        } else {
            return nil
        }
    }

    /// What a token needs, after "needs" in a sentence.
    var description: String {
        switch self {
        case .uuid: "the issuer ID, which is a UUID"
        case .tenCharacters: "the Team ID, which has ten digits and upper-case letters"
        case .prefixed(let prefixes): "an ID that begins with \(prefixes.map { "\"\($0)\"" }.listed("or"))"
        case .application: "a bundle ID or a Services ID, not the ID of an API client"
        case .undocumented: "an identifier"
        }
    }
}
