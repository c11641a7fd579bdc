import AuditKit
import GatewayConfiguration
import TransparencyLog

/// Whether `serve` could use the audit log, as far as its key and its checkpoints tell.
struct AuditLogCheck {
    /// A sentence for each log that it could not use.
    let faults: [String]

    init(_ configuration: GatewayConfiguration) {
        faults = [configuration.audit, configuration.fleetLog].compactMap { $0?.faultOfNextStart }
    }

    var sentences: [String] { faults.map { "serve could not use the audit log: \(PlainText.of($0))" } }
}

extension GatewayConfiguration.Audit {
    /// Nil without a fault, and if there is no log yet. `check` reads the database for the register, and reports its faults.
    fileprivate var faultOfNextStart: String? {
        guard (try? location.store.exists(at: location)) == true else { return nil }
        do throws(CommandError) {
            _ = try AuditKeyFile(key.path).read()
            guard let reader = try? location.read() else { return nil }
            defer { reader.close() }
            return try rollback(of: reader)
        } catch {
            return "\(error)"
        }
    }

    /// A sentence if a checkpoint in the configured file says that the log had more entries; nil if none does.
    ///
    /// - Throws: if the file cannot be read.
    func rollback(of reader: any AuditReader) throws(CommandError) -> String? {
        let (file, origin) = (checkpoints.file.path, reader.identity.origin)
        guard let verifier = try AuditKeyFile(key.path).publicKeys().first(where: { $0.name == origin }) else {
            return nil
        }
        // First the file: a running gateway commits before it issues a checkpoint.
        let known = try CheckpointFile(file).heads(signedBy: verifier).map(\.size).max() ?? 0
        guard let size = try? reader.head()?.size ?? 0, size < known else { return nil }
        return "\(database.text) holds \(size) entries, but \(file) has a checkpoint over \(known): the log was "
            + "truncated, or an older copy replaced it. Restore the right one."
    }
}
