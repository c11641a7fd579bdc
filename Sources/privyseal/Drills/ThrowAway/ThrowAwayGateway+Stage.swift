import KeyDrills
import SigningGateway

extension ThrowAwayGateway {
    /// Everything that a scenario needs, with the gateway's own administrator.
    func stage(_ conditions: DrillConditions) throws -> (DrillStage, LoadTarget) {
        let (admin, outsider) = (try adminClient(), try outsider())
        // The last that may fail: it has to be closed.
        guard
            let target = LoadTarget(
                publicAddress, token: clientToken, tls: nil, connections: conditions.load.connections)
        else { throw DrillError("\(publicAddress) is no address.") }
        let load = LoadDriver(
            conditions.load, to: target, requests: DrillStage.requests(bundleID: Self.bundleID),
            clock: GrantIssuer.systemTime)
        let stage = DrillStage(
            issuerID: Self.issuerID, bundleID: Self.bundleID, replacement: Self.stagedKey,
            overlap: conditions.overlap, desk: RemoteKeyDesk(admin), outsider: outsider, admin: admin, load: load,
            throwAway: self, patience: conditions.patience, ask: conditions.say)
        return (stage, target)
    }
}
