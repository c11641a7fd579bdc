import GatewayConfiguration
import GatewayHTTP
import SigningGateway
import SigningKit
import StrictJSON

/// The facts about every key of the configuration.
struct KeyInventory {
    struct Entry {
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

    var json: String { json(with: nil) }

    func json(with register: KeyRegisterCheck?) -> String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("keys")
            writer.array { writer in for key in entries { key.write(to: &writer) } }
            register?.writeMember(to: &writer)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
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

extension KeyInventory.Entry: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyId", keyID)
            writer.member("issuerId", issuerID)
            writer.member("active", isActive)
            writer.member("uri", uri)
            if let custody { writer.member("custody", custody.rawValue) }
            if let fingerprint { writer.member("fingerprint", fingerprint.description) }
            writer.member("state", state)
            if let reason { writer.member("reason", reason) }
            writer.member("configuredAt", origin)
        }
    }
}
