import GatewayConfiguration
import ServiceManager

/// Connections beyond the limit on open files would not be refused with a status: nobody could accept them.
enum DescriptorWarning {
    /// Open files besides the connections of callers: listeners, those of operators, tokens, the audit log, the log, and what is
    /// opened for a moment.
    private static let reserved = 256

    /// A sentence with its cure; nil when there is nothing to warn of.
    static func sentence(for configuration: GatewayConfiguration, limit: Int? = ProcessHardening.descriptorLimit)
        -> String?
    {
        let connections = configuration.limits.connections
        guard let limit, connections > limit - reserved else { return nil }
        let most = limit > reserved ? " set limits.connections to \(limit - reserved) at most, or" : ""
        return
            "limits.connections is \(connections), but the process may have \(limit) files open, and needs \(reserved) for "
            + "other things:\(most) raise the limit to \(connections + reserved) (LimitNOFILE= in the unit, ulimit -Hn in a shell)"
    }
}
