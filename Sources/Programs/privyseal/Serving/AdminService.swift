import AuditKit
import GatewayConfiguration
import GatewayHTTP
import TransparencyLog

struct AdminService: Administration {
    let version = Version.text
    let configuration: String
    let begun = ContinuousClock.now
    let recent: RecentEvents
    let reloader: Reloader

    var lastReload: ProcessEvent? { reloader.last }
    var events: [ProcessEvent] { recent.all }

    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome {
        await reloader.reload(isTrial: isTrial, by: actor)
    }
}

/// Reads the audit log of a configuration. It needs only public keys.
struct ConfiguredAuditReading: AuditReading {
    private let audit: GatewayConfiguration.Audit

    init(_ audit: GatewayConfiguration.Audit) {
        self.audit = audit
    }

    func reader() throws(AuditStoreError) -> any AuditReader {
        try BuiltIns.auditStore.read(at: audit.database.path)
    }

    func verifiers() throws(AuditStoreError) -> [NoteVerifier] {
        try reading { () throws(CommandError) in try AuditKeyFile(audit.key.path).publicKeys() }
    }

    func externals() throws(AuditStoreError) -> (checkpoints: ExternalCheckpoints, damaged: Int) {
        try reading { () throws(CommandError) in
            let collection = try CheckpointCollection(audit.checkpoints.file.path, isGiven: false)
            return (collection.checkpoints, collection.damaged)
        }
    }

    private func reading<Value>(_ body: () throws(CommandError) -> Value) throws(AuditStoreError) -> Value {
        do throws(CommandError) { return try body() } catch { throw .failed(error.description) }
    }
}
