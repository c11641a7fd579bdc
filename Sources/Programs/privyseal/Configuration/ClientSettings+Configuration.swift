import GatewayConfiguration
import Signing
import SigningKit

extension ClientSettings {
    init(_ client: GatewayConfiguration.Client) {
        self.init(
            name: client.name, isAdministrator: client.isAdministrator,
            tokens: client.tokens.compactMap { token in
                Digest256(bytes: token.digest).map { TokenSettings(digest: $0, expires: token.expires) }
            },
            certificates: client.certificates.compactMap { CertificateSettings($0.claim) },
            uids: client.uids.map(\.number), rules: client.allow.map(RuleSettings.init),
            rate: client.rate.map { RateSettings(perSecond: $0.perSecond, burst: $0.burst) },
            dailyQuota: client.dailyQuota, origin: "\(client.origin)")
    }
}

extension CertificateSettings {
    fileprivate init?(_ claim: GatewayConfiguration.CertificateIdentity.Claim) {
        switch claim {
        case .fingerprint(let bytes):
            guard let digest = Digest256(bytes: bytes) else { return nil }
            self = .fingerprint(digest)
        case .dnsName(let name): self = .dnsName(name)
        case .uri(let uri): self = .uri(uri)
        }
    }
}

extension RuleSettings {
    fileprivate init(_ rule: GatewayConfiguration.Rule) {
        func patterns(_ patterns: [GatewayConfiguration.Pattern]) -> [Pattern] { patterns.map { Pattern($0.text) } }
        self.init(
            apps: patterns(rule.apps), features: patterns(rule.features), products: patterns(rule.products),
            offers: patterns(rule.offers), keyIDs: patterns(rule.keyIDs), origin: "\(rule.origin)")
    }
}
