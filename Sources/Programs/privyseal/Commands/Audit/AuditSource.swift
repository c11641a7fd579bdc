import AuditKit
import GatewayConfiguration

/// A log that is open for reading, and its configuration.
struct AuditSource {
    struct Settings {
        let audit: GatewayConfiguration.Audit
        let configuration: GatewayConfiguration
    }

    let location: String
    let reader: any AuditReader
    /// Nil if only the database was named.
    let settings: Settings?

    /// The database's path, without the scheme of its store.
    var path: String {
        settings?.audit.database.path ?? String(location.trimmingPrefix("\(BuiltIns.auditStore.scheme):"))
    }
}
