import AuditKit
import GatewayConfiguration

/// A log that is open to be read, and what the configuration says of it.
struct AuditSource {
    struct Settings {
        let audit: GatewayConfiguration.Audit
        let configuration: GatewayConfiguration
    }

    let location: String
    let reader: any AuditReader
    /// Nil for a log that was named by its database alone.
    let settings: Settings?

    /// Of the database, without the scheme of its store.
    var path: String {
        settings?.audit.database.path ?? String(location.trimmingPrefix("\(BuiltIns.auditStore.scheme):"))
    }
}
