import GatewayConfiguration
import GatewayHTTP
import Signing
import SigningKit
import StrictJSON

/// The facts about every key of the configuration.
struct KeyInventory {
    struct Entry: Encodable {
        let keyID: String
        let issuerID: String
        let isActive: Bool
        /// Without attributes that lead to a secret.
        let uri: String
        let custody: KeyCustody?
        let fingerprint: PublicKeyFingerprint?
        let state: String
        let reason: String?
        let canSign: Bool
        let origin: String

        private enum CodingKeys: String, CodingKey {
            case keyID = "keyId"
            case issuerID = "issuerId"
            case isActive = "active"
            case uri, custody, fingerprint, state, reason
            case origin = "configuredAt"
        }
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
        let reasons = entries.compactMap { key in key.reason.map { "\n\(key.keyID) (\(key.origin)): \($0)" } }
        return ([table] + reasons).joined(separator: "\n")
    }

    private var table: String {
        TextTable(
            header: ["KEY ID", "ACCOUNT", "ROLE", "STATE", "CUSTODY", "FINGERPRINT", "WHERE"],
            rows: entries.map { key in
                [
                    key.keyID, key.issuerID, key.isActive ? "active" : "usable", key.state,
                    key.custody?.rawValue ?? "-", key.fingerprint?.description ?? "-", key.uri,
                ]
            }
        ).text
    }

    /// - Parameter register: nil without the member.
    func members(with register: KeyRegisterCheck? = nil) -> JSONMembers { ["keys": entries, "register": register] }
}

extension KeyInventory.Entry {
    init(_ handle: KeyHandle) {
        let state = handle.state
        self.init(
            keyID: handle.settings.keyID, issuerID: handle.issuerID, isActive: handle.isActive,
            uri: "\(handle.settings.uri)",
            custody: handle.custody, fingerprint: handle.fingerprint, state: state.name, reason: state.reason,
            canSign: state.canSign, origin: handle.settings.origin)
    }
}
