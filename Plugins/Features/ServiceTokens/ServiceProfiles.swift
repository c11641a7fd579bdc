public import SigningKit

/// The table of profiles: what each service of Apple documents about its tokens. Tokens for the App Store Server API
/// belong to an app, and are the feature `AppStoreServerAPI`.
public enum ServiceProfiles {
    public static let all: [ServiceProfile] = appStoreConnect + team + media + maps + oauth

    /// All kinds of JWT, for `verify --explain`.
    public static let explained = [appStoreServer] + all.filter { !$0.claims.isEmpty }

    /// Apple: "Generating JSON Web Tokens for API requests" (App Store Server API).
    private static let appStoreServer = ServiceProfile.token(
        AppStoreServerAPI.descriptor.id, AppStoreServerAPI.descriptor.summary, family: .inAppPurchase,
        identifiers: [.issuerID], header: [.type],
        claims: [TokenMember("iss", .identifier(.issuerID))] + times + [audience, TokenMember("bid", .subject)],
        lifetime: AppStoreServerAPI.lifetime)

    private static let audience = TokenMember("aud", .text("appstoreconnect-v1"))
    private static let times = [TokenMember("iat", .issuedAt), TokenMember("exp", .expiresAt)]
    private static let teamID = TokenMember("iss", .identifier(.teamID))
    /// The longest lifetime of several services: six months.
    private static let halfYear: Int64 = 15_777_000

    // MARK: App Store Connect

    /// Apple: "Generating Tokens for API Requests" (App Store Connect API; Enterprise Program API).
    private static let appStoreConnect = [
        ServiceProfile.token(
            "app-store-connect-team", "App Store Connect API, with a team key", family: .appStoreConnectTeam,
            identifiers: [.issuerID], header: [.type],
            claims: [TokenMember("iss", .identifier(.issuerID))] + times + [audience, TokenMember("scope", .scopes)],
            choices: [.scopes], lifetime: ServiceLifetime(standard: 900, limit: halfYear), reuse: .untilExpiry,
            check: AppStoreConnectScope.limit),
        ServiceProfile.token(
            "app-store-connect-individual", "App Store Connect API, with an individual key",
            family: .appStoreConnectIndividual, identifiers: [], header: [.type],
            claims: [TokenMember("sub", .text("user"))] + times + [audience, TokenMember("scope", .scopes)],
            choices: [.scopes], lifetime: ServiceLifetime(standard: 900, limit: halfYear), reuse: .untilExpiry,
            check: AppStoreConnectScope.limit),
        ServiceProfile.token(
            "enterprise-program", "Enterprise Program API", family: .enterpriseProgram, identifiers: [.issuerID],
            header: [.type],
            claims: [TokenMember("iss", .identifier(.issuerID))] + times
                + [TokenMember("aud", .text("apple-developer-enterprise-v1")), TokenMember("scope", .scopes)],
            choices: [.scopes], lifetime: ServiceLifetime(standard: 900, limit: halfYear), reuse: .untilExpiry,
            check: AppStoreConnectScope.limit),
    ]

    // MARK: Services of a team

    private static let team = [
        // Apple: "Establishing a token-based connection to APNs". A new token at most every 20 minutes, and at least
        // every 60.
        ServiceProfile.token(
            "apns", "Push notifications (APNs)", family: .pushNotifications, identifiers: [.teamID],
            claims: [teamID, TokenMember("iat", .issuedAt)], lifetime: nil, reuse: .forSeconds(3000)),
        // Apple: "Accessing and modifying per-device data".
        ServiceProfile.token(
            "devicecheck", "DeviceCheck", family: .deviceCheck, identifiers: [.teamID],
            claims: [teamID, TokenMember("iat", .issuedAt)], lifetime: nil, reuse: .forSeconds(1200)),
        // Apple: "Assessing fraud risk". The header of a call is `Authorization: <token>`, without `Bearer`.
        ServiceProfile.token(
            "app-attest-receipt", "App Attest receipts", family: .deviceCheck, identifiers: [.teamID],
            claims: [teamID, TokenMember("iat", .issuedAt)], lifetime: nil, reuse: .forSeconds(1200)),
        // Apple: "Creating a client secret".
        ServiceProfile.token(
            "sign-in-with-apple", "Sign in with Apple: the client secret", family: .signInWithApple,
            identifiers: [.teamID],
            claims: [teamID] + times
                + [TokenMember("aud", .text("https://appleid.apple.com")), TokenMember("sub", .subject)],
            choices: [.subject], required: [.subject], lifetime: ServiceLifetime(standard: 300, limit: halfYear)),
        // Apple: "Request authentication for WeatherKit REST API". The token has only these claims.
        ServiceProfile.token(
            "weatherkit", "WeatherKit", family: .weatherKit, identifiers: [.teamID, .serviceID],
            header: [TokenMember("id", .joined(.teamID, .serviceID))],
            claims: [teamID] + times + [TokenMember("sub", .identifier(.serviceID))],
            lifetime: ServiceLifetime(standard: 1800, limit: halfYear), reuse: .untilExpiry),
    ]

    // MARK: Media

    /// Apple: "Generating developer tokens" (Apple Music API), and the pages of the feeds.
    private static let media = [
        ("apple-music", "Apple Music API", ServiceKeyFamily.media),
        ("apple-music-feed", "Apple Music Feed", .media),
        ("apps-and-books", "Apps and Books for Organizations", .media),
        ("apple-tv-feed", "Apple TV feed", .appleTVFeed),
    ].map { id, summary, family in
        ServiceProfile.token(
            id, summary, family: family, identifiers: [.teamID],
            claims: [teamID] + times + [TokenMember("origin", .origins)], choices: [.origins],
            lifetime: ServiceLifetime(standard: 3600, limit: halfYear), reuse: .untilExpiry,
            check: WebOrigin.check)
    }

    // MARK: Maps

    /// Apple: "Creating and using tokens with Maps Server API"; "Creating a Maps token".
    private static let maps =
        [
            ServiceProfile.token(
                "maps-server", "Maps Server API", family: .maps, identifiers: [.teamID], header: [.type],
                claims: [teamID] + times
                    + [TokenMember("scope", .text("server_api")), TokenMember("origin", .origins)],
                choices: [.origins], lifetime: ServiceLifetime(standard: 600, limit: halfYear), reuse: .untilExpiry,
                check: WebOrigin.check)
        ]
        + [
            ("mapkit-js", "MapKit JS", "mapkit_js"), ("maps-web-snapshots", "Maps Web Snapshots", "web_snapshots"),
            ("maps-embed", "Apple Maps Embed API", "embed_api"),
        ].map { id, summary, scope in
            ServiceProfile.token(
                id, summary, family: .maps, identifiers: [.teamID], header: [.type],
                claims: [teamID] + times + [TokenMember("scope", .text(scope)), TokenMember("origin", .joinedOrigins)],
                choices: [.origins], required: [.origins], lifetime: ServiceLifetime(standard: 1800, limit: halfYear),
                reuse: .untilExpiry, check: WebOrigin.check)
        } + [MapsSnapshotURL.profile]

    // MARK: OAuth

    /// The longest lifetime is less than 180 days.
    private static let almost180Days: Int64 = 15_551_999

    private static let oauth =
        [
            // Apple: "Implementing OAuth for the Apple Ads Campaign Management API".
            ServiceProfile.token(
                "apple-ads", "Apple Ads: the client secret", family: .appleAds, identifiers: [.teamID, .clientID],
                claims: [teamID] + times
                    + [
                        TokenMember("aud", .text("https://appleid.apple.com")),
                        TokenMember("sub", .identifier(.clientID)),
                    ],
                lifetime: ServiceLifetime(standard: 600, limit: almost180Days))
        ]
        // Apple: "Implementing OAuth for the Apple School and Business Manager API".
        + [
            ("apple-business", "Apple Business Manager: the client assertion"),
            ("apple-school", "Apple School Manager: the client assertion"),
        ].map { id, summary in
            ServiceProfile.token(
                id, summary, family: .appleBusiness, identifiers: [.clientID],
                claims: [
                    TokenMember("iss", .identifier(.clientID)), TokenMember("sub", .identifier(.clientID)),
                    TokenMember("aud", .text("https://account.apple.com/auth/oauth2/v2/token")),
                ] + times + [TokenMember("jti", .nonce)],
                lifetime: ServiceLifetime(standard: 600, limit: almost180Days))
        }
}
