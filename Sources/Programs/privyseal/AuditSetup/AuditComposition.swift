import AuditKit
import AuditLog
import Foundation
import GatewayConfiguration
import KeyLifecycle
import Logging
import Signing
import SigningKit
import TransparencyLog
import WitnessClient

/// Builds an audit log from its configuration: the store, the log's key, and the checkpoint destinations.
struct AuditComposition {
    private let audit: GatewayConfiguration.Audit
    private let configuration: GatewayConfiguration
    /// The database, for messages.
    private let name: String
    /// Whether it is the log of a fleet, which all gateways write.
    private let isShared: Bool

    init(
        _ audit: GatewayConfiguration.Audit, of configuration: GatewayConfiguration, isShared: Bool = false
    ) {
        self.audit = audit
        self.isShared = isShared
        self.configuration = configuration
        name = audit.database.text
    }

    /// Opens the log for writing. Creates the log and its key if they are missing.
    ///
    /// - Parameters:
    ///   - isServing: whether checkpoints are published. A command leaves that to the gateway.
    ///   - role: `gateway` if this process decides on key states. A gateway on another machine may not go on then.
    ///   - fleetLog: gets the checkpoints, too; nil without a fleet.
    ///   - loading: gets the registers.
    ///   - freshness: of the key states of a fleet.
    /// - Throws: `CommandError`.
    func open(
        isServing: Bool, as role: AuditRole = .command, fleetLog: AuditLog? = nil,
        loading: @escaping AuditLog.RegisterLoading = { _, _ in },
        freshness: RegisterFreshness? = nil
    ) throws(CommandError) -> AuditLog {
        let signer = try loadOrCreate()
        let location = audit.location(of: signer.name)
        let file = CheckpointFile(audit.checkpoints.file.path, name: isShared ? "fleetFile" : "file")
        let publisher = publisher(of: signer.name, isServing: isServing, file, fleetLog, location)
        let log = AuditLog(
            signer: signer,
            settings: AuditSettings(
                writeTimeout: audit.writeTimeout, checkpointInterval: audit.checkpoints.interval,
                reserve: audit.reserveBytes),
            known: try file.heads(signedBy: signer.verifier), publisher: publisher, freshness: freshness,
            isShared: isShared, loading: loading
        ) { [audit] () throws(AuditStoreError) in
            try location.open(as: role, timeout: audit.writeTimeout)
        }
        do { try log.open() } catch {
            throw refusal("the audit log \(name) cannot be used. \(error)")
        }
        return log
    }

    // MARK: The log and its key

    private func loadOrCreate() throws(CommandError) -> NoteSigner {
        let file = AuditKeyFile(audit.key.path)
        let existing = file.exists ? try file.read() : nil
        let origin = existing?.name ?? audit.origin ?? Self.standardOrigin
        let location = audit.location(of: origin)
        let hasStore: Bool
        do { hasStore = try location.store.exists(at: location) } catch {
            // A log with a key was made before. Its database may come back while the gateway runs.
            if let existing, error.mayPass { return existing }
            throw refusal("cannot check whether the audit log \(name) exists. \(error)")
        }
        guard existing != nil || !hasStore else {
            // Another file than an audit log has no such key.
            do { _ = try location.read() } catch { throw refusal("\(error)") }
            throw refusal(
                "the audit log \(origin) in \(name) exists, but not its key \(audit.key.path). "
                    + (isShared
                        ? "Copy the key from another gateway of the fleet."
                        : "Put the key back; without it, nothing can be appended to the log."))
        }
        let signer: NoteSigner
        if let existing {
            signer = existing
            if let origin = audit.origin, origin != signer.name {
                throw refusal(
                    "the log's key is for \(signer.name), but origin is \(origin). Leave origin as it was when the log "
                        + "was made, put the right key back, or begin another log with another database and key.")
            }
            if hasStore {
                try file.restorePublicKey(of: signer)
                return signer
            }
        } else {
            do { signer = try .generate(name: origin) } catch { throw refusal("\(error)") }
        }
        try requireNoCheckpoints(of: signer, hasKey: existing != nil)
        if existing == nil { try file.write(signer) }
        do { try location.store.create(at: location, identity: AuditIdentity(origin: origin)) } catch {
            throw refusal("the audit log \(name) cannot be made. \(error)", mayPass: error.mayPass)
        }
        let logger = Logger(label: "privyseal.audit")
        logger.notice("An audit log was made", metadata: ["origin": "\(origin)", "database": "\(name)"])
        return signer
    }

    /// A key without a database is a new one, or its database is lost. Checkpoints show which. Also refuses to create a
    /// log if another key signed checkpoints with its name: its file system may not be mounted.
    private func requireNoCheckpoints(of signer: NoteSigner, hasKey: Bool) throws(CommandError) {
        let path = audit.checkpoints.file.path
        let known = hasKey ? try CheckpointFile(path).heads(signedBy: signer.verifier) : []
        if let size = known.map(\.size).max(), size > 0 {
            throw refusal(
                "\(name) is missing, but \(path) holds a checkpoint over \(size) of its entries. Put the database "
                    + "back; to begin another log, move key and checkpoints away.")
        }
        guard try CheckpointFile(path).holdsCheckpoint(of: signer.name) else { return }
        throw refusal(
            "\(name) is missing, and so is the key of the checkpoints of \(signer.name) in \(path). Put both back, "
                + "or mount their file system; to begin another log, move the checkpoints away or give it another "
                + "origin.")
    }

    private func refusal(_ sentences: String, mayPass: Bool = false) -> CommandError {
        CommandError("\(audit.section): \(sentences)", mayPass: mayPass)
    }

    /// Different for every log, even on machines with the same name.
    private static var standardOrigin: String {
        let host = ProcessInfo.processInfo.hostName.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0))
        }
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        return "\(host.isEmpty ? "localhost" : host)/privyseal/\(random)"
    }

    // MARK: Checkpoints

    /// A command only asks witnesses, if it may not sign without them.
    private func publisher(
        of origin: String, isServing: Bool, _ file: CheckpointFile, _ fleetLog: AuditLog?, _ location: AuditLocation
    ) -> CheckpointPublisher? {
        let quorum = quorum(location)
        guard isServing else {
            return audit.checkpoints.witness == .require ? CheckpointPublisher([], quorum: quorum) : nil
        }
        return CheckpointPublisher(destinations(file, fleetLog), cosigner: cosigner(of: origin), quorum: quorum)
    }

    private func quorum(_ location: AuditLocation) -> WitnessQuorum? {
        guard let policy = audit.checkpoints.policy?.policy, let failure = audit.checkpoints.witness else { return nil }
        let client = WitnessClient(policy: policy, isShared: isShared) { () throws(AuditStoreError) in
            try location.read()
        }
        return WitnessQuorum(
            client, failure: failure, interval: audit.checkpoints.interval, log: isShared ? "fleet" : "gateway")
    }

    private func destinations(
        _ file: CheckpointFile, _ fleetLog: AuditLog?
    ) -> [any CheckpointDestination] {
        var destinations: [any CheckpointDestination] = [file]
        if let fleetLog { destinations.append(FleetCheckpoints(log: fleetLog)) }
        switch audit.checkpoints.output {
        case .none: break
        case .stdout: destinations.append(StandardOutputCheckpoints())
        case .syslog: destinations.append(SyslogCheckpoints())
        }
        if let endpoint = audit.checkpoints.endpoint {
            destinations.append(
                PostedCheckpoints(to: endpoint, tokenFile: audit.checkpoints.tokenFile?.path))
        }
        return destinations
    }

    /// The name of the key that cosigns the checkpoints of a log.
    static func cosigner(of origin: String) -> String { "\(origin)/cosigner" }

    /// Nil if none is configured. The key is not open yet.
    func cosigner(of origin: String) -> KeyCosigner? {
        guard let cosigner = audit.checkpoints.cosigner else { return nil }
        return KeyCosigner(
            cosigner, name: Self.cosigner(of: origin), environment: configuration.environment(of: cosigner))
    }
}
