import SigningKit

/// The claims that a token may have.
enum TokenClaim {
    /// The claims of all audiences (Apple: "Generating JWS to sign App Store requests").
    static let base = [
        FeatureField("iss", .string, "The issuer ID.", synonyms: ["issuer", "issuerid"]),
        FeatureField("iat", .integer, "The time, in seconds since 1970.", synonyms: ["issuedat", "timestamp"]),
        FeatureField("aud", .string, "The audience.", synonyms: ["audience"]),
        FeatureField("bid", .string, "The bundle ID.", synonyms: ["bundleid", "bundleidentifier", "appbundleid"]),
        FeatureField("nonce", .nonce, "A UUID."),
    ]

    /// The claim for which `name` is a known misspelling or synonym, or nil.
    static func meant(by name: String, among claims: [FeatureField]) -> FeatureField? {
        let plain = plain(name)
        return claims.first { Self.plain($0.name) == plain || $0.synonyms.contains(plain) }
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
}
