public import Crypto
public import SigningKit

extension GatewayConfiguration {
    /// A signing key of an account, and its location.
    public struct Key: Sendable {
        public enum Provenance: String, CaseIterable, Sendable {
            case imported, generated
        }

        /// The ID in App Store Connect: `keyIdentifier`, or `kid` in a JWS header.
        public let keyID: String
        public let uri: KeyURI
        /// The URI, split by its backend. The selector contains `publicKey` if the configuration has it.
        public let address: KeyAddress
        /// The gateway refuses a key with another public key.
        public let fingerprint: PublicKeyFingerprint?
        /// From `publicKeyFile`, for a token that has neither a public key nor a certificate.
        public let publicKey: P256.Signing.PublicKey?
        /// The intended number of days from the key's activation.
        public let cryptoperiod: Int
        /// How a key came into its token, if its import or generation is not recorded; nil if it is not configured.
        public let provenance: Provenance?
        public let origin: ConfigurationOrigin
    }
}

extension GatewayConfiguration.Key: CustomStringConvertible {
    /// For logs and tables, without the attributes that lead to a secret.
    public var description: String { "\(keyID) at \(uri)" }
}
