import AuditKit
import GatewayConfiguration
import Signing
import SigningKit
import TransparencyLog

extension AuditLocation {
    /// The store of the location: the one with its scheme, or SQLite for a path.
    var store: any AuditStore.Type {
        BuiltIns.auditStores.first { store in
            store.schemes.contains { text.utf8.starts(with: "\($0):".utf8) }
        } ?? BuiltIns.fileAuditStore
    }

    /// Nil for a location that is not a file.
    var path: String? {
        guard store == BuiltIns.fileAuditStore else { return nil }
        return BuiltIns.fileAuditStore.schemes.reduce(text) { text, scheme in
            text.hasPrefix(scheme + ":") ? String(text.dropFirst(scheme.count + 1)) : text
        }
    }

    /// The path or the URL, without parameters, for messages.
    var place: String { String(text.prefix { $0 != "?" }) }

    func read() throws(AuditStoreError) -> any AuditReader { try store.read(at: self) }

    func open(as role: AuditRole, timeout: Duration) throws(AuditStoreError) -> any AuditStore {
        try store.open(at: self, as: role, timeout: timeout)
    }
}

extension GatewayConfiguration.Audit {
    /// The location of the log with the name of its key.
    var location: AuditLocation {
        // A file holds one log. On a server, the key tells which log is that of this gateway.
        guard database.file == nil else { return location(of: nil) }
        let verifier = try? AuditKeyFile(key.path).publicKeys().first
        return location(of: verifier?.name ?? origin)
    }

    /// - Parameter origin: selects a log among those of a database.
    func location(of origin: String?) -> AuditLocation {
        var location = AuditLocation(database.text, origin: origin)
        location.durability = durability ?? .replicated
        location.readsPrimary = true
        if let passwordSource {
            location.password = { () throws(KeyError) in try FileSecretSource().secret(passwordSource) }
        }
        return location
    }
}
