public import Crypto
public import SigningKit

extension GatewayConfiguration {
    /// A key that the account may sign with, and where it lives.
    public struct Key: Sendable {
        public enum Provenance: String, CaseIterable, Sendable {
            case imported, generated
        }

        /// As App Store Connect shows it: `keyIdentifier`, or `kid` in a JWS header.
        public let keyID: String
        public let uri: KeyURI
        /// The URI as its backend splits it. The selector holds `publicKey` when the configuration does.
        public let address: KeyAddress
        /// What the key's public part must be, or the key is refused.
        public let fingerprint: PublicKeyFingerprint?
        /// From `publicKeyFile`: for a token that has neither a public key nor a certificate.
        public let publicKey: P256.Signing.PublicKey?
        /// For how many days the key is meant to be active, from its activation on.
        public let cryptoperiod: Int
        /// How the key came into its token, for a key whose import or generation is not on record; nil when nobody says.
        public let provenance: Provenance?
        public let origin: ConfigurationOrigin
    }
}

extension GatewayConfiguration.Key: CustomStringConvertible {
    /// For logs and tables: without what leads to a secret.
    public var description: String { "\(keyID) at \(uri)" }
}
