import SigningKit
import StrictJSON

/// The members of a token, to recognise the service that it was made for.
struct ServiceTokenMembers {
    private let claims: JSONObject
    /// Nil if the header is not a JSON object.
    private let header: JSONObject?

    /// Nil if the claims are not a JSON object.
    init?(_ reading: TokenReading) {
        func object(_ bytes: [UInt8]) -> JSONObject? { try? JSONDocument(parsing: bytes).root.anyObject() }
        guard let claims = reading.payload.flatMap(object) else { return nil }
        self.claims = claims
        header = reading.header.flatMap(object)
    }

    /// Whether the token was made for StoreKit: it has a nonce or one of StoreKit's audiences.
    func isForStoreKit(_ audiences: [FeatureDescriptor]) -> Bool {
        guard claims["nonce"] == nil else { return true }
        guard let audience = try? claims["aud"]?.string() else { return false }
        return audiences.map(\.id).containsExactly(audience)
    }

    /// The number of claims that are missing, unknown or of another service.
    func faults(against profile: ServiceProfile) -> Int {
        let wrong = profile.claims.count { member in
            claims[member.name] == nil ? member.isRequired : !fits(member.name, profile)
        }
        return wrong + claims.names.count { !profile.claims.map(\.name).containsExactly($0) }
    }

    /// The finding that the token was made for a service with another kind of key.
    ///
    /// The token must be right for that service, and more claims must be of that service only than of `profile` only. So
    /// a token for `profile` without one claim is not taken for a token of another service that has no such claim.
    func otherFamily(than profile: ServiceProfile, among profiles: [ServiceProfile]) -> Finding? {
        let other = profiles.first { other in
            other.family != profile.family && hasHeader(of: other) && faults(against: other) == 0
                && evidence(for: other, against: profile) > evidence(for: profile, against: other)
        }
        guard let other else { return nil }
        return Finding(
            .familyOther,
            "The claims are those of \(other.id), which needs the \(other.family.rawValue); a token for \(profile.id) "
                + "needs the \(profile.family.rawValue).")
    }

    /// The number of claims that fit the first profile and not the second one.
    private func evidence(for profile: ServiceProfile, against other: ServiceProfile) -> Int {
        profile.claims.count { member in
            // Tokens of nearly all services have times, and any text fits an undocumented form.
            if member.kind == .number { return false }
            if case .undocumented = IdentifierForm(of: member, for: profile.family) { return false }
            return fits(member.name, profile) && !fits(member.name, other)
        }
    }

    /// Whether the claim is present, and has the kind, the fixed text or the form that it has in a token of the profile.
    private func fits(_ name: String, _ profile: ServiceProfile) -> Bool {
        guard let value = claims[name], let member = profile.claims.first(where: { $0.name.hasSameBytes(as: name) })
        else { return false }
        // A wrong kind of a time is a mistake of any service.
        if member.kind == .number { return true }
        guard value.kind == member.kind else { return false }
        guard let text = try? value.string() else { return true }
        if let fixed = member.fixed { return text.hasSameBytes(as: fixed) }
        return IdentifierForm(of: member, for: profile.family)?.matches(text) ?? true
    }

    /// Whether the header has the members that only a token of the profile has, such as `id` for WeatherKit.
    private func hasHeader(of profile: ServiceProfile) -> Bool {
        profile.header.allSatisfy { $0.name == "typ" || header?[$0.name] != nil }
    }
}
