import SigningKit
import StrictJSON

/// A service with its keys and its profile. For the stages of signing it is an app with one feature: its name is the path
/// of the service, and the feature's ID is the profile. It is a class, so that a request copies one reference.
final class ServedService: Sendable {
    let profile: ServiceProfile
    let app: ServedApp
    let feature: ServedFeature
    /// Services with the same value get the same tokens for the same choices.
    let identity: String
    private let settings: ServiceSettings

    init(
        _ service: ServiceSettings, _ profile: ServiceProfile, of account: AccountSettings, keys: [KeyHandle],
        life: AccountKeys?
    ) {
        self.profile = profile
        settings = service
        feature = ServedFeature(profile, of: service)
        app = ServedApp(
            AppSettings(bundleID: service.path, features: [profile.id]), of: account, features: [feature], keys: keys,
            life: life)
        let identifiers = profile.identifiers.map { service.identifiers[$0] ?? "" }
        identity = ([account.issuerID, profile.id, "\(service.lifetime ?? 0)"] + identifiers).joined(separator: "\n")
    }

    /// What a request with these choices needs from the rules: also the lifetime that it gets.
    func subject(choosing chosen: OfferSubject) -> OfferSubject {
        var choices = settings.choices
        if !chosen.scopes.isEmpty { choices.scopes = chosen.scopes }
        if !chosen.origins.isEmpty { choices.origins = chosen.origins }
        return OfferSubject(
            scopes: chosen.scopes, origins: chosen.origins, subject: chosen.subject,
            lifetime: profile.lifetime(of: settings, choices, chosen.lifetime))
    }
}

extension ServiceProfile {
    /// How many seconds a token is valid; `Int64.max` for a signed URL, which has no end.
    ///
    /// - Parameter chosen: what the request chooses; nil for what the service has.
    func lifetime(of service: ServiceSettings, _ choices: ServiceTokenChoices, _ chosen: Int64? = nil) -> Int64 {
        guard let lifetime else { return claims.isEmpty ? .max : Self.oldest }
        // `compose` refuses choices that Apple would refuse.
        let limit = (try? check(choices)) ?? nil
        return min(chosen ?? service.lifetime ?? lifetime.standard, limit ?? .max)
    }
}

extension ServedFeature {
    /// The feature that makes the tokens of a service.
    init(_ profile: ServiceProfile, of service: ServiceSettings) {
        descriptor = FeatureDescriptor(
            id: profile.id, name: profile.id, summary: profile.summary, description: "", fields: [], answer: [])
        settings = []
        prepare = { value throws(GatewayError) in
            let request: ServiceTokenRequest
            do throws(JSONReadError) {
                request = try ServiceTokenRequest(from: value, for: profile, of: service)
                // Before the policy: what Apple would refuse is wrong for every client.
                _ = try profile.check(request.choices)
            } catch {
                throw .request(.request(error))
            }
            return PreparedRequest(subject: request.subject, reuse: { request.reuse }) { grant throws(FeatureError) in
                let order = ServiceTokenOrder(
                    identifiers: service.identifiers, keyID: grant.app.keyID, issuedAt: grant.issuedAt,
                    nonce: grant.nonce, choices: request.choices, lifetime: request.lifetime)
                let draft = try profile.compose(order)
                return Draft(signingInput: draft.signingInput, expires: draft.expires) {
                    draft.makeAnswer($0).jsonBytes(capacity: 1024)
                }
            }
        }
    }
}
