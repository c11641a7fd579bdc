/// The operations on a running gateway.
public protocol Administration: Sendable {
    func status() async -> GatewayStatus

    /// Reads the configuration again and applies it. An unusable configuration changes nothing.
    ///
    /// - Parameters:
    ///   - isTrial: true to report the changes without applying them.
    ///   - actor: the requesting client's name, for the audit log.
    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome
}

public enum ReloadOutcome: Sendable {
    /// A sentence for each change.
    case applied([String])
    case wouldApply([String])
    case unchanged
    /// The error in the new configuration; the running configuration is unchanged.
    case refused(String)
}
