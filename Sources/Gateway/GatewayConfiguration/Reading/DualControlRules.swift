/// Checks what dual control needs: an audit log for the proposals, and a second administrator.
struct DualControlRules {
    let findings: Findings

    /// Call this for a configuration without an audit log.
    func requireLog(for accounts: [GatewayConfiguration.Account]) {
        for account in accounts where account.hasDualControl {
            let sentence =
                "needs the audit log, which stores proposals and approvals; give audit.database, or remove it"
            findings.fault(.notAllowed(sentence), at: account.origin.child("dualControl"))
        }
    }

    /// Makes the checks that need the clients and listeners.
    func look(_ configuration: GatewayConfiguration) {
        for account in configuration.accounts where account.hasDualControl {
            let administrators = Self.administrators(configuration, countsOperator: account.countsOperator)
            guard administrators.count < 2 else { continue }
            let found = administrators.first.map { "there is only \($0)" } ?? "there is none"
            let cure =
                configuration.adminListener == nil
                ? "give listeners.admin, and another client administrator: true"
                : "give another client administrator: true"
            findings.warn(
                "requires two administrators, but \(found), so no proposal could be approved; \(cure)",
                at: account.origin.child("dualControl"))
        }
    }

    /// The names of the administrators. On a Unix socket, root and the gateway's own user are both `operator`. A client
    /// with root's uid is the same person as `operator`.
    private static func administrators(
        _ configuration: GatewayConfiguration, countsOperator: Bool
    ) -> [String] {
        // Without an admin listener, only `operator` can act: on the command line, while the gateway does not run.
        guard let listener = configuration.adminListener else { return countsOperator ? ["operator"] : [] }
        let clients = configuration.clients.filter(\.isAdministrator)
        let hasOperator =
            countsOperator && listener.address.isUnixSocket
            && !clients.contains { client in client.uids.contains { $0.number == 0 } }
        return clients.map(\.name) + (hasOperator ? ["operator"] : [])
    }
}
