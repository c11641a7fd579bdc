import AuditKit
import GatewayConfiguration
import GatewayHTTP
import Signing
import SigningKit
import StrictJSON

/// The facts about every key of the configuration.
struct KeyInventory {
    struct Entry {
        let settings: KeySettings
        let issuerID: String
        let isActive: Bool
        let custody: KeyCustody?
        let fingerprint: PublicKeyFingerprint?
        let state: KeyState

        init(_ handle: KeyHandle) {
            (settings, issuerID, isActive) = (handle.settings, handle.issuerID, handle.isActive)
            (custody, fingerprint, state) = (handle.custody, handle.fingerprint, handle.state)
        }

        /// Without attributes that lead to a secret.
        var uri: String { "\(settings.uri)" }
    }

    /// In the order of the configuration.
    let entries: [Entry]

    /// Opens every key, and has it sign a proof.
    static func take(_ configuration: GatewayConfiguration) async -> KeyInventory {
        LogSetup.bootstrapQuietly()
        let gateway = ConfigurationSnapshot(configuration)
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        let entries = gateway.ring.handles.map(Entry.init)
        await gateway.ring.close()
        return KeyInventory(entries: entries)
    }

    /// A table, followed by the reason of each key that is not ready.
    var text: String {
        let reasons = entries.compactMap { key in
            key.state.reason.map { "\n\(key.settings.keyID) (\(key.settings.origin)): \(PlainText.of($0))" }
        }
        let table = TextTable(
            header: ["KEY ID", "ACCOUNT", "ROLE", "STATE", "CUSTODY", "FINGERPRINT", "WHERE"],
            rows: entries.map { key in
                [
                    key.settings.keyID, key.issuerID, key.isActive ? "active" : "usable", key.state.name,
                    key.custody?.rawValue ?? "-", key.fingerprint?.description ?? "-", key.uri,
                ].map(PlainText.of)
            })
        return ([table.text] + reasons).joined(separator: "\n")
    }

    /// - Parameter register: nil without the member.
    func members(with register: KeyRegisterCheck? = nil) -> JSONMembers {
        let keys = entries.map { key -> JSONMembers in
            [
                "keyId": key.settings.keyID, "issuerId": key.issuerID, "active": key.isActive, "uri": key.uri,
                "custody": key.custody, "fingerprint": key.fingerprint, "state": key.state.name,
                "reason": key.state.reason, "configuredAt": key.settings.origin,
            ]
        }
        return ["keys": keys, "register": register?.document]
    }
}
