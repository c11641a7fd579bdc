/// What an operator can have done while the gateway runs.
public protocol Administration: Sendable {
    func status() async -> GatewayStatus

    /// Reads the configuration anew, and serves by it from then on; a configuration that cannot be served changes nothing.
    ///
    /// - Parameters:
    ///   - isTrial: only say what would change.
    ///   - actor: the client who wants it, for the record.
    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome
}

public enum ReloadOutcome: Sendable {
    /// A sentence for each change.
    case applied([String])
    case wouldApply([String])
    case unchanged
    /// What is wrong with the new configuration; nothing has changed.
    case refused(String)
}
