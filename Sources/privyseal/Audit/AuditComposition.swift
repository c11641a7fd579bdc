import AuditKit
import Foundation
import GatewayConfiguration
import Logging
import SigningGateway
import SigningKit
import TransparencyLog

/// Puts an audit log together from its configuration: the store, the log's key, and where its checkpoints go.
struct AuditComposition {
    private let audit: GatewayConfiguration.Audit
    private let configuration: GatewayConfiguration
    private let store: any AuditStore.Type
    private let location: String

    init(_ audit: GatewayConfiguration.Audit, of configuration: GatewayConfiguration) {
        self.audit = audit
        self.configuration = configuration
        store = BuiltIns.auditStore
        location = audit.database.path
    }

    /// The log, open to be written to. It is made where there is none yet, and so is its key.
    ///
    /// - Parameter isServing: whether checkpoints go out; a signature on the command line leaves them to the gateway.
    /// - Throws: `AuditSetupError`.
    func open(isServing: Bool) throws(AuditSetupError) -> AuditLog {
        let signer = try foundOrMade()
        let file = CheckpointFile(audit.checkpoints.file.path)
        let publisher = isServing ? CheckpointPublisher(destinations(file), cosigner: cosigner(of: signer.name)) : nil
        let log = AuditLog(
            signer: signer,
            settings: AuditSettings(
                writeTimeout: audit.writeTimeout, checkpointInterval: audit.checkpoints.interval,
                reserve: audit.reserveBytes),
            known: try file.heads(signedBy: signer.verifier), publisher: publisher
        ) { [store, location, audit] () throws(AuditStoreError) in
            try store.open(at: location, patience: audit.writeTimeout)
        }
        do { try log.open() } catch {
            throw AuditSetupError("\(audit.section): the audit log \(location) cannot be used. \(error)")
        }
        return log
    }

    /// Nil where the configuration wants no record.
    ///
    /// - Throws: what is wrong, already said; the status is 78.
    static func open(_ configuration: GatewayConfiguration, isServing: Bool) throws -> AuditLog? {
        guard let audit = configuration.audit else { return nil }
        do throws(AuditSetupError) {
            return try AuditComposition(audit, of: configuration).open(isServing: isServing)
        } catch {
            throw StandardError.failure(error.description, status: 78)
        }
    }

    // MARK: The log and its key

    private func foundOrMade() throws(AuditSetupError) -> NoteSigner {
        let file = AuditKeyFile(audit.key.path)
        let hasStore: Bool
        do { hasStore = try store.exists(at: location) } catch {
            throw AuditSetupError("\(audit.section): the audit log \(location) cannot be looked for. \(error)")
        }
        switch (hasStore, file.exists) {
        case (true, true):
            let signer = try checked(try file.read())
            try file.restorePublicKey(of: signer)
            return signer
        case (true, false):
            throw AuditSetupError(
                "\(audit.section): there is an audit log at \(location), but not its key at \(audit.key.path). Put the "
                    + "key back; without it, nothing can be appended to the log.")
        case (false, true):
            let signer = try checked(try file.read())
            try refuseToRepeat(signer)
            try refuseToForget(signer.name)
            try make(under: signer)
            return signer
        case (false, false):
            let signer: NoteSigner
            do { signer = try .generate(name: audit.origin ?? Self.standardOrigin) } catch {
                throw AuditSetupError("\(audit.section): \(error)")
            }
            try refuseToForget(signer.name)
            try file.write(signer)
            try make(under: signer)
            return signer
        }
    }

    private func checked(_ signer: NoteSigner) throws(AuditSetupError) -> NoteSigner {
        if let origin = audit.origin, origin != signer.name {
            throw AuditSetupError(
                "\(audit.section): the log's key is for \(signer.name), but origin is \(origin). Leave origin as it was "
                    + "when the log was made, put the right key back, or begin another log with another database and key."
            )
        }
        return signer
    }

    private func make(under signer: NoteSigner) throws(AuditSetupError) {
        do { try store.create(at: location, identity: AuditIdentity(origin: signer.name)) } catch {
            throw AuditSetupError("\(audit.section): the audit log \(location) cannot be made. \(error)")
        }
        let logger = Logger(label: "privyseal.audit")
        logger.notice("An audit log was made", metadata: ["origin": "\(signer.name)", "database": "\(location)"])
    }

    /// A key without a log is a new one, or one whose database is gone. Checkpoints tell which.
    private func refuseToRepeat(_ signer: NoteSigner) throws(AuditSetupError) {
        let known = try CheckpointFile(audit.checkpoints.file.path).heads(signedBy: signer.verifier)
        if let size = known.map(\.size).max(), size > 0 {
            throw AuditSetupError(
                "\(audit.section): \(location) is not there, but \(audit.checkpoints.file.path) holds a checkpoint over "
                    + "\(size) of its entries. Put the database back; to begin another log, move key and checkpoints away."
            )
        }
    }

    /// A log of this name has been here before, under another key: it is not begun anew in its place, as it would be where its
    /// file system is not mounted.
    private func refuseToForget(_ origin: String) throws(AuditSetupError) {
        let path = audit.checkpoints.file.path
        guard try CheckpointFile(path).holdsCheckpoint(of: origin) else { return }
        throw AuditSetupError(
            "\(audit.section): \(location) is not there, nor the key that signed the checkpoints of \(origin) in \(path). Put both "
                + "back, or mount their file system; to begin another log, move the checkpoints away or give it another origin."
        )
    }

    /// Different for every log that is made, also on machines that have the same name.
    private static var standardOrigin: String {
        let host = ProcessInfo.processInfo.hostName.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0))
        }
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        return "\(host.isEmpty ? "localhost" : host)/privyseal/\(random)"
    }

    // MARK: Where checkpoints go

    private func destinations(_ file: CheckpointFile) -> [any CheckpointDestination] {
        var destinations: [any CheckpointDestination] = [file]
        switch audit.checkpoints.output {
        case .none: break
        case .stdout: destinations.append(StandardOutputCheckpoints())
        case .syslog: destinations.append(SyslogCheckpoints())
        }
        if let endpoint = audit.checkpoints.endpoint {
            destinations.append(
                PostedCheckpoints(to: endpoint.text, tokenFile: audit.checkpoints.tokenFile?.path))
        }
        return destinations
    }

    /// The name of the key that cosigns the checkpoints of a log.
    static func cosigner(of origin: String) -> String { "\(origin)/cosigner" }

    /// Nil where none is configured; its key is not open yet.
    func cosigner(of origin: String) -> KeyCosigner? {
        guard let cosigner = audit.checkpoints.cosigner else { return nil }
        return KeyCosigner(
            cosigner, name: Self.cosigner(of: origin), settings: configuration.backends[cosigner.uri.scheme],
            secrets: GatewayGeneration.secrets)
    }
}

/// Why there is no audit log; one sentence or two, with where it is configured.
struct AuditSetupError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
