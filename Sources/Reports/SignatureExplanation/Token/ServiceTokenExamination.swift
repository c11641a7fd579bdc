public import SigningKit

extension SignatureExaminer {
    /// The profile that fits the claims of a token best, for a command without `--service`. Nil for a token for StoreKit,
    /// which has a nonce or one of StoreKit's audiences.
    public func profile(of token: [UInt8]) -> ServiceProfile? {
        guard let members = ServiceTokenMembers(TokenReading(token)), !members.isForStoreKit(audiences) else {
            return nil
        }
        let best = profiles.map { ($0, members.faults(against: $0)) }.min { $0.1 < $1.1 }
        guard let (profile, faults) = best, faults < 2 else { return nil }
        return profile
    }

    /// - Parameters:
    ///   - token: A compact JWS.
    ///   - profile: The kind of token that it should be.
    ///   - app: The expected bundle ID, if any. Only tokens with the claim `bid` name an app.
    ///   - isSearching: Whether to search for the mistake if the signature does not verify.
    public func examine(
        token: [UInt8], profile: ServiceProfile, app: String? = nil, isSearching: Bool
    ) -> Explanation {
        let reading = TokenReading(token)
        let family = ServiceTokenMembers(reading)?.otherFamily(than: profile, among: profiles)
        let claims = reading.payload.map { ServiceTokenClaims($0, profile, app: app, now: now) }
        let header = reading.header.map { ServiceTokenHeader($0, profile, identifiers: claims?.identifiers ?? [:]) }
        let ofHeader = header?.findings ?? []
        var form = ofHeader.filter { $0.code == .headerAlg } + reading.findings
        if let family { form.append(family) }
        form += ofHeader.filter { $0.code != .headerAlg } + (claims?.findings ?? [])
        return examination(
            of: reading, kind: profile.id, profile: profile, keyID: header?.keyID, form: form, isSearching: isSearching)
    }
}
