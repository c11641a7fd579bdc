import Crypto
import GatewayConfiguration
import Signing
import SigningKit
import WorkloadIdentities

/// Converts a configuration to the gateway's settings.
extension GatewaySettings {
    /// - Parameter logins: of a serving gateway; nil for a command.
    init(_ configuration: GatewayConfiguration, logins: (any LoginHistory)? = nil) {
        self.init(
            accounts: configuration.accounts.map(AccountSettings.init) + Self.accounts(of: configuration.services),
            verification: configuration.verification,
            backendSettings: configuration.backends, clients: configuration.clients,
            issuers: configuration.issuers.compactMap(IssuerSettings.init),
            allowsAnonymous: configuration.allowsAnonymous, proofInterval: configuration.proofInterval,
            signers: SignerCatalog(configuration, logins: logins))
    }
}

extension AccountSettings {
    fileprivate init(_ account: GatewayConfiguration.Account) {
        self.init(
            issuerID: account.issuerID,
            apps: account.apps,
            keys: account.keys.map(KeySettings.init),
            activeKeyID: account.activeKeyID, hasDualControl: account.hasDualControl,
            countsOperator: account.countsOperator, proposalLifetime: account.proposalLifetime)
    }
}

extension KeySettings {
    fileprivate init(_ key: GatewayConfiguration.Key) {
        self.init(
            keyID: key.keyID, uri: key.uri, replicas: key.replicas.map(\.uri), selection: key.selection,
            pinned: key.fingerprint, publicKey: key.publicKey.map { Array($0.x963Representation) },
            cryptoperiod: key.cryptoperiod, provenance: .init(key.provenance), origin: "\(key.origin)")
    }
}

extension GatewaySettings {
    /// The services, by the service that has the keys.
    fileprivate static func accounts(of services: [GatewayConfiguration.Service]) -> [AccountSettings] {
        services.filter { $0.keysOf == nil }.map { owner in
            let own = services.filter { $0.name == owner.name || $0.keysOf == owner.name }.map(ServiceSettings.init)
            return AccountSettings(
                issuerID: ServiceSettings(owner).path, apps: [], services: own, keys: owner.keys.map(KeySettings.init),
                activeKeyID: owner.activeKeyID ?? "", hasDualControl: owner.hasDualControl,
                countsOperator: owner.countsOperator, proposalLifetime: owner.proposalLifetime)
        }
    }
}

extension ServiceSettings {
    fileprivate init(_ service: GatewayConfiguration.Service) {
        self.init(
            name: service.name, profile: service.profile, identifiers: service.identifiers, choices: service.choices,
            lifetime: service.lifetime.map(Int64.init))
    }
}

extension IssuerSettings {
    /// - Returns: nil without `issuer` and `trustDomain`, which the configuration reader refuses.
    init?(_ issuer: GatewayConfiguration.Issuer) {
        let byIssuer = issuer.issuer.map(Sign.issuer)
        guard let sign = byIssuer ?? issuer.trustDomain.map(Sign.trustDomain) else { return nil }
        self.init(
            name: issuer.name, sign: sign, audience: issuer.audience,
            keys: issuer.keys.hasPrefix("/")
                ? .file(issuer.keys) : .url(issuer.keys, trustRoots: issuer.trustRoots?.path),
            refreshInterval: issuer.refreshInterval, maximumAge: issuer.maximumAge, origin: "\(issuer.origin)")
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
        rejected: KeyRing? = nil, audit: SigningAudit? = nil, logins: (any LoginHistory)? = nil
    ) {
        self.init(
            GatewaySettings(configuration, logins: logins), features: BuiltIns.features(configuration.features),
            profiles: BuiltIns.profiles, backends: BuiltIns.keyBackends, secrets: FileSecretSource(),
            inheriting: predecessor, rejected: rejected,
            audit: audit)
    }
}
