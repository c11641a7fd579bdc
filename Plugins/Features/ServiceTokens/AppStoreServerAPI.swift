import AppStoreJWS
import JWS
public import SigningKit
public import StrictJSON

/// A bearer token for the App Store Server API, and for the other services under `api.storekit.apple.com`: External
/// Purchase Server, Advanced Commerce and Retention Messaging
/// (Apple: "Generating JSON Web Tokens for API requests", App Store Server API).
///
/// The header has exactly `alg`, `kid` and `typ`. The claims are `iss`, `iat`, `exp`, `aud` and `bid`. A caller chooses
/// none of them.
public struct AppStoreServerAPI: SigningFeature {
    public static let descriptor = FeatureDescriptor(
        id: "app-store-server-api",
        name: "AppStoreServerAPI",
        summary: "A bearer token for the App Store Server API",
        description: """
            The token allows every call of the App Store Server API for the app, such as reading transactions and extending
            subscriptions, for five minutes. So only a rule that names this feature grants it; `*` does not. The body is an
            empty object.
            """,
        fields: [],
        answer: ServiceToken.fields,
        isGrantedByName: true
    )

    static let lifetime = ServiceLifetime(standard: 300, limit: 3600)

    public init() {}

    public func subject(of input: AppStoreServerAPIRequest) -> OfferSubject { OfferSubject() }

    public func compose(
        _ input: AppStoreServerAPIRequest, for grant: Grant
    ) throws(FeatureError) -> Draft<ServiceToken> {
        let times = Self.lifetime.times(at: grant.issuedAt)
        var claims = JSONWriter(capacity: 256)
        claims.object { claims in
            claims.member("iss", grant.app.issuerID)
            claims.member("iat", times.issuedAt)
            claims.member("exp", times.expiresAt)
            claims.member("aud", "appstoreconnect-v1")
            claims.member("bid", grant.app.bundleID)
        }
        let signingInput = CompactJWS.signingInput(
            header: AppStoreJWS.header(keyID: grant.app.keyID), payload: claims.bytes)
        return Draft(signingInput: signingInput) { signature in
            // Apple: "Generate a new signed JWT for each new request."
            ServiceToken(
                CompactJWS.serialized(signingInput, signature: signature.rawRepresentation.span),
                keyID: grant.app.keyID, issuedAt: times.issuedAt, expiresAt: times.expiresAt,
                refreshAfter: grant.issuedAt.seconds)
        }
    }
}

/// The request: an object without members.
public struct AppStoreServerAPIRequest: JSONReadable, Sendable {
    public init(from value: JSONValue) throws(JSONReadError) { _ = try value.object(members: []) }
}
