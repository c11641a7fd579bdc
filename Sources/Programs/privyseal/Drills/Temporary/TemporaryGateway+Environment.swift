import AuditLog
import KeyDrills

extension TemporaryGateway {
    /// The environment of a scenario, with the gateway's own administrator.
    func environment(_ conditions: DrillConditions) throws -> (DrillEnvironment, LoadTarget) {
        let (admin, outsider) = (try adminClient(), try outsider())
        // Create the target last: the caller must close it, so nothing after this may throw.
        guard
            let target = LoadTarget(
                publicAddress, token: clientToken, tls: nil, connections: conditions.load.connections)
        else { throw DrillError("\(publicAddress) is no address.") }
        let load = LoadDriver(
            conditions.load, to: target, requests: DrillEnvironment.requests(bundleID: Self.bundleID),
            clock: ClockMonitor.systemTime)
        let environment = DrillEnvironment(
            issuerID: Self.issuerID, bundleID: Self.bundleID, replacement: Self.stagedKey,
            overlap: conditions.overlap, lifecycleClient: RemoteKeyLifecycleClient(admin), outsider: outsider,
            admin: admin, load: load,
            throwAway: self, timeout: conditions.timeout, ask: conditions.say)
        return (environment, target)
    }
}
