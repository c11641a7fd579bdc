extension GatewayConfiguration {
    /// The settings of a fleet: gateways with their logs in one database, which share their key states.
    public struct Fleet: SettingSection {
        /// The name of the fleet's log, the same on all gateways.
        public internal(set) var origin = ""
        /// The private key of the fleet's log, the same on all gateways.
        public internal(set) var key = File.none
        /// How long a gateway signs without reading the key states.
        public internal(set) var staleness: Duration = .seconds(10)
        let section: ConfigurationOrigin

        init(_ section: ConfigurationOrigin) {
            self.section = section
        }

        private static let example = "/var/lib/privyseal/fleet.key"

        static let settings: [Setting<Self>] = [
            .value(
                "origin", \.origin, .auditOrigin,
                missing: "the name of the fleet's log, such as example.com/privyseal/fleet",
                needsRestart: true,
                "the name of the log with the key states of the fleet; the same on all gateways, and different from "
                    + "`audit.origin`"),
            .value(
                "key", \.key, .file(such: example),
                missing: "the absolute path of the key of the fleet's log, such as \(example)",
                needsRestart: true,
                "the private key of the fleet's log (Ed25519). The first gateway creates it; copy it to the others"),
            .value(
                "staleness", \.staleness, .seconds(2...60), needsRestart: true,
                "seconds for which a gateway signs without reading the key states of the fleet. It is also the time "
                    + "after which the others take it for silent"),
        ]
    }
}

extension GatewayConfiguration {
    /// The log of the fleet, in the same database as that of this gateway; nil without a fleet.
    public var fleetLog: Audit? {
        guard let fleet, var log = audit else { return nil }
        (log.origin, log.key) = (fleet.origin, fleet.key)
        log.checkpoints = Checkpoints()
        log.checkpoints.file = fleet.key.beside(".checkpoints", fleet.key.origin)
        if let own = audit?.checkpoints { log.checkpoints.takeWitnesses(of: own) }
        return log
    }

    func checkFleet(_ given: GivenSettings, _ findings: Findings) {
        guard let fleet, !given.faulty.contains("audit"), !given.faulty.contains("fleet") else { return }
        guard let audit, audit.database.file == nil else {
            return findings.fault(
                "needs the logs of all gateways in one PostgreSQL database; give audit.database: postgresql://…, or "
                    + "remove it", at: fleet.section)
        }
        guard fleet.origin == audit.origin else { return }
        findings.fault(
            "is that of this gateway's own log; give the fleet's log another name", at: fleet.section.child("origin"))
    }
}
