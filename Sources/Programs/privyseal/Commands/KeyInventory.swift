import AuditKit
import GatewayConfiguration
import GatewayHTTP
import Signing
import SigningKit
import StrictJSON

/// The facts about every key of the configuration, in its order.
struct KeyInventory {
    /// A table, followed by the reason of each key that is not ready.
    let text: String
    let canAllSign: Bool
    /// An element for each key.
    let members: [JSONMembers]

    /// Opens every key, and has it sign a proof.
    ///
    /// - Parameter states: of the register, by key ID; nil if there is no register.
    static func take(
        _ configuration: GatewayConfiguration, states: [String: KeyLifecycleState]?
    ) async -> KeyInventory {
        LogSetup.bootstrapQuietly()
        let gateway = ConfigurationSnapshot(configuration)
        await gateway.ring.openMissing()
        await gateway.ring.prove()
        let inventory = KeyInventory(gateway.ring.handles, states)
        await gateway.ring.close()
        return inventory
    }

    private init(_ keys: [KeyHandle], _ states: [String: KeyLifecycleState]?) {
        canAllSign = keys.allSatisfy(\.state.canSign)
        let reasons = keys.compactMap { key in
            key.state.reason.map { "\n\(key.settings.keyID) (\(key.settings.origin)): \(PlainText.of($0))" }
        }
        let table = TextTable(
            header: ["KEY ID", "ACCOUNT", "ROLE", "STATE", "CUSTODY", "FINGERPRINT", "WHERE"],
            rows: keys.map { key in
                // The description of a URI has no attributes that lead to a secret.
                [
                    key.settings.keyID, key.issuerID, Self.role(of: key, states), key.state.name,
                    key.custody?.rawValue ?? "-", key.fingerprint?.description ?? "-",
                    key.settings.uris.map(\.description).joined(separator: " "),
                ].map(PlainText.of)
            })
        text = ([table.text] + reasons).joined(separator: "\n")
        members = keys.map { key in
            [
                "keyId": key.settings.keyID, "issuerId": key.issuerID,
                "active": states.map { $0[key.settings.keyID] == .active } ?? key.isConfiguredActive,
                "uri": "\(key.settings.uri)", "custody": key.custody, "fingerprint": key.fingerprint,
                "state": key.state.name, "reason": key.state.reason, "configuredAt": key.settings.origin,
                "replicas": key.replicas.count > 1 ? key.replicas.map(Self.members) : nil,
            ]
        }
    }

    /// The key's state in the register. Without a register, the configuration says which key is active.
    private static func role(of key: KeyHandle, _ states: [String: KeyLifecycleState]?) -> String {
        guard let states else { return key.isConfiguredActive ? "active" : "if named" }
        return states[key.settings.keyID]?.rawValue ?? "-"
    }

    private static func members(of replica: KeyReplica) -> JSONMembers {
        let state = replica.state
        return [
            "uri": replica.uri.description, "custody": replica.custody?.rawValue, "state": state.name,
            "reason": state.reason, "tokenSerial": replica.tokenSerial,
        ]
    }
}
