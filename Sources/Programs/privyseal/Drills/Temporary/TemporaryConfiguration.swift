import Signing
import SigningKit

/// The configuration of a temporary gateway.
struct TemporaryConfiguration: Sendable {
    struct Key: Sendable {
        let keyID: String
        var uri: String
        /// Further places of the key.
        var replicas: [String] = []
        var fingerprint: PublicKeyFingerprint
    }

    /// An account with one app. Its first key is active initially.
    struct Account: Sendable {
        let issuerID: String
        let bundleID: String
        let hasDualControl: Bool
        var keys: [Key]
    }

    let directory: String
    /// The rights are a member of the client in YAML.
    let clients: [(name: String, token: ClientToken, rights: String)]
    var accounts: [Account]

    /// No value comes from a caller, and only quoted values contain special characters.
    var yaml: String {
        """
        # Made for a drill; it goes with this directory.
        listeners:
          public: {address: "unix:\(directory)/public.sock"}
          admin: {address: "unix:\(directory)/admin.sock"}
        drainDelay: 0
        shutdownGracePeriod: 5
        audit: {database: "\(directory)/audit.db", origin: privyseal-drill}
        clients:
        \(clients.map(Self.text).joined(separator: "\n"))
        accounts:
        \(accounts.map(Self.text).joined(separator: "\n"))

        """
    }

    private static func text(_ name: String, _ token: ClientToken, _ rights: String) -> String {
        "  - {name: \(name), tokens: [{sha256: \"\(token.digest)\"}], \(rights)}"
    }

    private static func text(_ account: Account) -> String {
        let keys = account.keys.map { key in
            let replicas = key.replicas.map { "\"\($0)\"" }.joined(separator: ", ")
            return "\n      - {keyId: \(key.keyID), uri: \"\(key.uri)\", publicKey: \"\(key.fingerprint)\""
                + (replicas.isEmpty ? "}" : ", replicas: [\(replicas)]}")
        }
        return """
              - issuerId: \(account.issuerID)
                apps: [{bundleId: \(account.bundleID), features: [promotional-offer, legacy-promotional-offer]}]
                dualControl: \(account.hasDualControl)
                activeKey: \(account.keys.first?.keyID ?? "-")
                keys:
            """ + keys.joined()
    }
}
