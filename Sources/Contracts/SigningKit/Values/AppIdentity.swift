/// The identifiers against which Apple checks a signature. They come from the configuration, never from a caller.
public struct AppIdentity: Hashable, Sendable {
    /// The app's bundle ID: `appBundleID`, or the claim `bid`.
    public let bundleID: String
    /// The account's issuer ID in App Store Connect: the claim `iss`.
    public let issuerID: String
    /// The key's ID in App Store Connect: `keyIdentifier`, or `kid` in a JWS header.
    public let keyID: String

    public init(bundleID: String, issuerID: String, keyID: String) {
        self.bundleID = bundleID
        self.issuerID = issuerID
        self.keyID = keyID
    }
}
