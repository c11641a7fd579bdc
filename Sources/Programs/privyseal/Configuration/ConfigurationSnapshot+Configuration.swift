import Crypto
import GatewayConfiguration
import Signing
import SigningKit

/// Converts a configuration to the gateway's settings.
extension GatewaySettings {
    init(_ configuration: GatewayConfiguration) {
        self.init(
            accounts: configuration.accounts.map(AccountSettings.init),
            verification: configuration.verification,
            backendSettings: configuration.backends, clients: configuration.clients,
            allowsAnonymous: configuration.allowsAnonymous, proofInterval: configuration.proofInterval)
    }
}

extension AccountSettings {
    fileprivate init(_ account: GatewayConfiguration.Account) {
        self.init(
            issuerID: account.issuerID,
            apps: account.apps,
            keys: account.keys.map { key in
                KeySettings(
                    keyID: key.keyID, uri: key.uri, pinned: key.fingerprint,
                    publicKey: key.publicKey.map { Array($0.x963Representation) }, cryptoperiod: key.cryptoperiod,
                    provenance: .init(key.provenance), origin: "\(key.origin)")
            },
            activeKeyID: account.activeKeyID, hasDualControl: account.hasDualControl,
            countsOperator: account.countsOperator, proposalLifetime: account.proposalLifetime)
    }
}

extension KeyProvenance {
    /// The raw values are the same.
    init(_ provenance: GatewayConfiguration.Key.Provenance?) {
        self = provenance.flatMap { Self(rawValue: $0.rawValue) } ?? .unknown
    }
}

/// Builds a snapshot from a configuration. It opens no keys.
extension ConfigurationSnapshot {
    convenience init(
        _ configuration: GatewayConfiguration, inheriting predecessor: ConfigurationSnapshot? = nil,
        rejected: KeyRing? = nil, audit: SigningAudit? = nil
    ) {
        self.init(
            GatewaySettings(configuration), features: BuiltIns.features(configuration.features),
            backends: BuiltIns.keyBackends, secrets: FileSecretSource(), inheriting: predecessor, rejected: rejected,
            audit: audit)
    }
}
