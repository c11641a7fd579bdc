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
    /// What a request without members needs from the rules.
    let standardSubject: OfferSubject

    init(
        _ service: ServiceSettings, _ profile: ServiceProfile, of account: AccountSettings, keys: [KeyHandle],
        life: AccountKeys?
    ) {
        self.profile = profile
        standardSubject = OfferSubject(lifetime: profile.lifetime(of: service))
        feature = ServedFeature(profile, of: service)
        app = ServedApp(
            AppSettings(bundleID: service.path, features: [profile.id]), of: account, features: [feature], keys: keys,
            life: life)
        let identifiers = profile.identifiers.map { service.identifiers[$0] ?? "" }
        identity = ([account.issuerID, profile.id, "\(service.lifetime ?? 0)"] + identifiers).joined(separator: "\n")
    }
}

extension ServiceProfile {
    /// How many seconds a token is valid if the request chooses nothing; nil for a signed URL, which has no end.
    func lifetime(of service: ServiceSettings) -> Int64? {
        if let lifetime { return service.lifetime ?? lifetime.standard }
        return claims.isEmpty ? nil : Self.oldest
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
            do throws(JSONReadError) { request = try ServiceTokenRequest(from: value, for: profile, of: service) } catch
            {
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
