import AuditKit
import GatewayConfiguration
import StrictJSON
import WorkloadIdentities

/// What `privyseal check` reports on the issuers of workload identities.
struct IssuerCheck {
    let members: [JSONMembers]
    let sentences: [String]
    /// Whether every issuer has keys.
    let isFine: Bool

    /// Reads the keys of all issuers.
    static func take(_ configuration: GatewayConfiguration) async -> IssuerCheck {
        let issuers = IssuerDirectory(configuration.issuers.compactMap(IssuerSettings.init))
        let results = await issuers.readKeys()
        return IssuerCheck(
            members: results.map { issuer, keys in
                switch keys {
                case .success(let keys): ["name": issuer.name, "keys": keys]
                case .failure(let error): ["name": issuer.name, "reason": "\(error)"]
                }
            },
            sentences: results.map { issuer, keys in
                switch keys {
                case .success(let keys):
                    "The issuer \(issuer.name) has \(keys.count == 1 ? "the key" : "the keys") "
                        + PlainText.of(keys.joined(separator: ", ")) + "."
                case .failure(let error):
                    "The keys of the issuer \(issuer.name) (\(issuer.origin)) could not be read: "
                        + PlainText.of("\(error)") + "."
                }
            },
            isFine: results.allSatisfy { (try? $0.keys.get()) != nil })
    }
}
