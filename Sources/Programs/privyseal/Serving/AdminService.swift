import AuditKit
import GatewayConfiguration
import GatewayHTTP
import SignerClient
import SigningKit
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

    var signers: [SignerStatus] { Signers.shared.report() }
    var signaturesWithoutRecord: Int { get async { await Signers.shared.signaturesWithoutRecord() } }

    func restartSigner(_ name: String, by actor: String) async throws(SignerRestartError) -> Bool {
        do throws(KeyError) { return try await Signers.shared.restart(name, because: "\(actor) ordered it.") } catch {
            throw SignerRestartError(sentence: "\(error) The running processes stay.")
        }
    }
}

/// Reads the audit log of a configuration. It needs only public keys.
struct ConfiguredAuditReading: AuditReading {
    private let audit: GatewayConfiguration.Audit
    /// The origin of the fleet's log; nil without a fleet.
    private let fleet: String?

    /// Nil if the gateway keeps no audit log.
    init?(_ configuration: GatewayConfiguration) {
        guard let audit = configuration.audit else { return nil }
        self.audit = audit
        fleet = configuration.fleet?.origin
    }

    func reader() throws(AuditStoreError) -> any AuditReader {
        try audit.location.read()
    }

    func allReaders() throws(AuditStoreError) -> [any AuditReader] {
        guard let fleet else { return [try reader()] }
        let location = audit.location(of: nil)
        return try location.store.readAll(at: location).filter { $0.identity.origin != fleet }
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
