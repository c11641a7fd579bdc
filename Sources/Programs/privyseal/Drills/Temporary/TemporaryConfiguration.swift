import Signing
import SigningKit

struct TemporaryConfiguration: Sendable {
    struct Key: Sendable {
        let keyID: String
        var uri: String
        let fingerprint: PublicKeyFingerprint
    }

    /// An account with one app. Its first key is active initially.
    struct Account: Sendable {
        let issuerID: String
        let bundleID: String
        let hasDualControl: Bool
        var keys: [Key]
    }

    let directory: String
    /// With the digests of the clients' tokens.
    let clients: [(name: String, digest: Digest256, isAdministrator: Bool)]
    var accounts: [Account]

    var publicSocket: String { "\(directory)/public.sock" }
    var adminSocket: String { "\(directory)/admin.sock" }
    var database: String { "\(directory)/audit.db" }

    /// No value comes from a caller, and only quoted values contain special characters.
    var yaml: String {
        var lines = [
            "# Made for a drill; it goes with this directory.",
            "listeners:",
            "  public: {address: \"unix:\(publicSocket)\"}",
            "  admin: {address: \"unix:\(adminSocket)\"}",
            "drainDelay: 0",
            "shutdownGracePeriod: 5",
            "audit: {database: \"\(database)\", origin: privyseal-drill}",
            "clients:",
        ]
        for client in clients {
            lines.append("  - name: \(client.name)")
            lines.append("    tokens: [{sha256: \"\(client.digest)\"}]")
            if client.isAdministrator {
                lines.append("    administrator: true")
            } else {
                lines.append(
                    "    allow: [{apps: [\"*\"], features: [\"*\"], products: [\"*\"], offers: [\"*\"], keyIds: [\"*\"]}]"
                )
            }
        }
        lines.append("accounts:")
        for account in accounts { lines += text(account) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func text(_ account: Account) -> [String] {
        var lines = [
            "  - issuerId: \(account.issuerID)",
            "    apps: [{bundleId: \(account.bundleID), features: [promotional-offer, legacy-promotional-offer]}]",
        ]
        if account.hasDualControl { lines.append("    dualControl: true") }
        lines.append("    keys:")
        for key in account.keys {
            lines.append("      - keyId: \(key.keyID)")
            lines.append("        uri: \"\(key.uri)\"")
            lines.append("        publicKey: \"\(key.fingerprint)\"")
        }
        lines.append("    activeKey: \(account.keys.first?.keyID ?? "-")")
        return lines
    }
}
