import Crypto
import GatewayConfiguration
import Signing
import SigningKit

/// Converts a configuration to the gateway's settings.
extension GatewaySettings {
    init(_ configuration: GatewayConfiguration) {
        self.init(
            accounts: configuration.accounts.map(AccountSettings.init),
            verification: VerificationMode(configuration.verification),
            backendSettings: configuration.backends, clients: configuration.clients.map(ClientSettings.init),
            allowsAnonymous: configuration.allowsAnonymous, proofInterval: configuration.proofInterval)
    }
}

extension AccountSettings {
    fileprivate init(_ account: GatewayConfiguration.Account) {
        self.init(
            issuerID: account.issuerID,
            apps: account.apps.map { AppSettings(bundleID: $0.bundleID, features: $0.features) },
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

extension VerificationMode {
    fileprivate init(_ verification: GatewayConfiguration.Verification) {
        switch verification {
        case .always: self = .always
        case .sampled(let every): self = .sampled(every: every)
        case .off: self = .off
        }
    }
}
