public import SigningKit

extension GatewayConfiguration {
    /// The location of a P-256 key. It is not opened yet.
    public struct KeyLocation: Sendable {
        public let uri: KeyURI
        /// The URI, split by its backend.
        public let address: KeyAddress
        public let origin: ConfigurationOrigin
    }
}

extension GatewayConfiguration.KeyLocation: CustomStringConvertible {
    /// For logs and tables, without the attributes that lead to a secret.
    public var description: String { uri.description }
}

extension SettingKind<GatewayConfiguration.KeyLocation> {
    static var keyLocation: Self {
        Self(
            values: "a URI, see [keys](#accountskeys)", read: { KeyURIReader(findings: $1).read($0) },
            text: { $0.description }, compared: { $0.uri.text })
    }
}
