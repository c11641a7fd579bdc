import GatewayConfiguration
import ServiceManager

/// Warns if too few files may be open: a connection beyond the limit cannot be accepted, so it gets no status.
enum OpenFileLimitWarning {
    /// Open files besides public connections: listeners, administrators, tokens, audit log, log, temporary files.
    private static let reserved = 256

    /// A warning with its remedy; nil if there is nothing to warn of.
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
