import GatewayConfiguration
import GatewayHTTP

/// The listeners of a configuration, with their certificates read.
struct Doors {
    let plans: [ListenerPlan]

    /// - Throws: what is wrong, with where it was configured.
    init(_ configuration: GatewayConfiguration) throws(DoorError) {
        var plans: [ListenerPlan] = []
        for listener in configuration.listeners {
            let place = listener.origin.map { "\($0): " } ?? ""
            do {
                let tls = try listener.tls.map { try TLSIdentity(TLSPlan($0)) }
                plans.append(
                    ListenerPlan(
                        ListenerName(listener.role), address: ServerAddress(listener.address), tls: tls,
                        socket: try SocketPermissions(listener)))
            } catch {
                throw DoorError(description: "\(listener.tls.map { "\($0.origin): " } ?? place)\(error)")
            }
        }
        self.plans = plans
    }

    /// Those that have certificates.
    var identities: [(name: ListenerName, identity: TLSIdentity)] {
        plans.compactMap { plan in plan.tls.map { (plan.name, $0) } }
    }
}

struct DoorError: Error, CustomStringConvertible {
    let description: String
}
