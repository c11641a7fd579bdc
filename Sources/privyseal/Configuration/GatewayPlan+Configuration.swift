import Crypto
import GatewayConfiguration
import SigningGateway

/// From what a person wrote to what the gateway serves.
extension GatewayPlan {
    init(_ configuration: GatewayConfiguration) {
        self.init(
            accounts: configuration.accounts.map(AccountPlan.init),
            verification: VerificationMode(configuration.verification),
            backendSettings: configuration.backends, clients: configuration.clients.map(ClientPlan.init),
            allowsAnonymous: configuration.allowsAnonymous, proofInterval: configuration.proofInterval)
    }
}

extension AccountPlan {
    fileprivate init(_ account: GatewayConfiguration.Account) {
        self.init(
            issuerID: account.issuerID,
            apps: account.apps.map { AppPlan(bundleID: $0.bundleID, features: $0.features) },
            keys: account.keys.map { key in
                KeyPlan(
                    keyID: key.keyID, uri: key.uri, pinned: key.fingerprint,
                    publicKey: key.publicKey.map { Array($0.x963Representation) }, cryptoperiod: key.cryptoperiod,
                    provenance: .init(key.provenance), origin: "\(key.origin)")
            },
            activeKeyID: account.activeKeyID, hasDualControl: account.hasDualControl,
            countsOperator: account.countsOperator, proposalLifetime: account.proposalLifetime)
    }
}

extension KeyLifeRecord.Provenance {
    init(_ provenance: GatewayConfiguration.Key.Provenance?) {
        switch provenance {
        case .imported: self = .imported
        case .generated: self = .generated
        case nil: self = .unknown
        }
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
