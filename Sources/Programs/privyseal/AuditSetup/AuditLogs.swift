import AuditKit
import AuditLog
import GatewayConfiguration
import KeyLifecycle
import Signing
import SigningKit

/// The open logs of a gateway, and the states of its keys.
struct AuditLogs {
    /// The gateway's own log.
    let log: AuditLog
    /// The log with the registers: that of the fleet, or the gateway's own.
    let registerLog: AuditLog
    let keyStates: KeyStateCache
    /// Nil for a gateway that belongs to no fleet, and for a command.
    let fleet: FleetRegister?

    var signing: SigningAudit { SigningAudit(log, keyStates, shared: fleet) }

    /// - Returns: nil if the configuration has no audit log.
    /// - Throws: `ExitCode` 78, after printing the error.
    static func open(_ configuration: GatewayConfiguration, isServing: Bool) throws -> AuditLogs? {
        guard let audit = configuration.audit else { return nil }
        return try StandardError.attempt(78) { () throws(CommandError) in
            try AuditLogs(audit, of: configuration, isServing: isServing)
        }
    }

    private init(
        _ audit: GatewayConfiguration.Audit, of configuration: GatewayConfiguration, isServing: Bool
    ) throws(CommandError) {
        let role = isServing ? AuditRole.gateway : .command
        let composition = AuditComposition(audit, of: configuration)
        guard let settings = configuration.fleet, let fleetLog = configuration.fleetLog else {
            keyStates = KeyStateCache()
            log = try composition.open(isServing: isServing, as: role, loading: keyStates.load)
            (registerLog, fleet) = (log, nil)
            return
        }
        let fleetComposition = AuditComposition(fleetLog, of: configuration, isShared: true)
        guard isServing else {
            // A command uses the states at its start.
            keyStates = KeyStateCache()
            log = try composition.open(isServing: false, as: role)
            registerLog = try fleetComposition.open(isServing: false, loading: keyStates.load)
            fleet = nil
            return
        }
        let freshness = RegisterFreshness(limit: settings.staleness)
        keyStates = KeyStateCache(isInFleet: true)
        // `KeyLifecycleService` reads the registers.
        registerLog = try fleetComposition.open(isServing: true)
        log = try composition.open(isServing: true, as: role, fleetLog: registerLog, freshness: freshness)
        fleet = FleetRegister(
            gateway: audit.location.origin ?? "", fleet: settings.origin, staleness: settings.staleness, log: log,
            freshness: freshness, keyStates: keyStates, secret: registerLog.derivedKey(for: Self.tokens),
            pinKey: registerLog.derivedKey(for: RefusedPINList.keyPurpose))
    }

    /// Of the key that seals the shared tokens of services.
    private static let tokens = "privyseal fleet tokens"

    func close() async {
        await log.close()
        if registerLog !== log { await registerLog.close() }
    }
}
