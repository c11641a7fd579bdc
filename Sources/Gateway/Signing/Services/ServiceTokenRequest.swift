import SigningKit
import StrictJSON

/// The request of a service token: an object with the members that the profile allows. All are optional if the
/// configuration has their values.
struct ServiceTokenRequest: Sendable {
    /// What the token gets: from the request or, without a member, from the configuration.
    let choices: ServiceTokenChoices
    /// In seconds, at most the lifetime of the service; nil for the standard of the profile.
    let lifetime: Int64?
    /// What the request itself chooses, and the lifetime in any case. The rules of the client decide about it.
    let subject: OfferSubject

    /// The most scopes or origins of a request.
    private static let most = 50

    init(
        from value: JSONValue, for profile: ServiceProfile, of service: ServiceSettings
    ) throws(JSONReadError) {
        let members = try value.object(members: profile.choices.map(\.rawValue))
        let scopes = try members.optional("scopes", Self.list)
        let origins = try members.optional("origins", Self.list)
        let subject = try members.optional("subject", Self.text)
        let parameters = try members.optional("parameters") { value throws(JSONReadError) in try value.string() }
        let most = service.lifetime ?? profile.lifetime?.standard ?? 0
        let chosen = try members.optional("lifetime") { value throws(JSONReadError) in
            let seconds = try value.integer()
            guard seconds >= 1, seconds <= most else {
                throw JSONReadError(.invalid("is \(seconds); this service allows 1 to \(most) seconds"))
            }
            return seconds
        }
        choices = ServiceTokenChoices(
            scopes: scopes ?? service.choices.scopes, origins: origins ?? service.choices.origins,
            subject: subject ?? service.choices.subject, parameters: parameters ?? service.choices.parameters)
        lifetime = chosen ?? service.lifetime
        self.subject = OfferSubject(
            scopes: scopes ?? [], origins: origins ?? [], subject: subject,
            lifetime: profile.lifetime(of: service, choices, chosen))
        for choice in profile.required where !choices.has(choice) {
            throw JSONReadError(.missing, at: choice.rawValue)
        }
    }

    /// Requests with the same text may get the same token.
    var reuse: String {
        let parts = [choices.scopes, choices.origins, [choices.subject ?? ""]].map { $0.joined(separator: "\t") }
        return (parts + ["\(lifetime ?? 0)"]).joined(separator: "\n")
    }

    private static func list(_ value: JSONValue) throws(JSONReadError) -> [String] {
        let texts = try value.elements(text)
        guard (1...most).contains(texts.count) else {
            throw JSONReadError(.invalid("has \(texts.count) elements; it may have 1 to \(most)"))
        }
        return texts
    }

    private static func text(_ value: JSONValue) throws(JSONReadError) -> String {
        let text = try value.string()
        try TextRule.identifier.check(text)
        return text
    }
}

extension ServiceTokenChoices {
    fileprivate func has(_ choice: ServiceChoice) -> Bool {
        switch choice {
        case .scopes: !scopes.isEmpty
        case .origins: !origins.isEmpty
        case .subject: subject != nil
        case .parameters: parameters != nil
        case .lifetime: true
        }
    }
}
