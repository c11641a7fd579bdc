public import SigningKit
import StrictJSON

extension SignatureExaminer {
    /// The profile that fits the claims of a token best, for a command without `--service`. Nil for a token for StoreKit,
    /// which has a nonce or one of StoreKit's audiences.
    public func profile(of token: [UInt8]) -> ServiceProfile? {
        guard let payload = TokenReading(token).payload,
            let claims = try? JSONDocument(parsing: payload).root.anyObject(), claims["nonce"] == nil
        else { return nil }
        if let audience = try? claims["aud"]?.string() {
            guard !audiences.map(\.id).containsExactly(audience) else { return nil }
        }
        let best = profiles.map { ($0, $0.faults(in: claims)) }.min { $0.1 < $1.1 }
        guard let (profile, faults) = best, faults < 2 else { return nil }
        return profile
    }

    /// - Parameters:
    ///   - token: A compact JWS.
    ///   - profile: The kind of token that it should be.
    ///   - isSearching: Whether to search for the mistake if the signature does not verify.
    public func examine(token: [UInt8], profile: ServiceProfile, isSearching: Bool) -> Explanation {
        let reading = TokenReading(token)
        let claims = reading.payload.map { ServiceTokenClaims($0, profile, others: profiles, now: now) }
        let header = reading.header.map { ServiceTokenHeader($0, profile, teamID: claims?.issuer) }
        let ofHeader = header?.findings ?? []
        let form =
            ofHeader.filter { $0.code == .headerAlg } + reading.findings
            + ofHeader.filter { $0.code != .headerAlg } + (claims?.findings ?? [])
        return examination(of: reading, kind: profile.id, keyID: header?.keyID, form: form, isSearching: isSearching)
    }
}
