import Signing
import SigningKit

/// The configuration of a temporary gateway.
struct TemporaryConfiguration: Sendable {
    struct Key: Sendable {
        let keyID: String
        var uri: String
        let fingerprint: PublicKeyFingerprint
    }

    struct Client: Sendable {
        let name: String
        /// Of the client's token.
        let digest: Digest256
        let isAdministrator: Bool
    }

    /// An account with one app. Its first key is active initially.
    struct Account: Sendable {
        let issuerID: String
        let bundleID: String
        let hasDualControl: Bool
        var keys: [Key]
    }

    let directory: String
    let clients: [Client]
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

    private static func text(_ client: Client) -> String {
        let rights =
            client.isAdministrator
            ? "administrator: true"
            : #"allow: [{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}]"#
        return """
              - name: \(client.name)
                tokens: [{sha256: "\(client.digest)"}]
                \(rights)
            """
    }

    private static func text(_ account: Account) -> String {
        let keys = account.keys.map { key in
            "\n      - keyId: \(key.keyID)\n        uri: \"\(key.uri)\"\n        publicKey: \"\(key.fingerprint)\""
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
