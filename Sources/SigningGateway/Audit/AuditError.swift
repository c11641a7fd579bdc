/// Why something was not recorded; so nothing that had to be recorded may leave.
public enum AuditError: Error, Hashable, Sendable {
    /// The log cannot be written; a sentence for the operator says why.
    case unavailable(String)
    /// A write takes longer than its limit.
    case overdue(Duration)
    /// The gateway is being stopped.
    case closed
}

extension AuditError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let sentence): "The audit log cannot be written. \(sentence)"
        case .overdue(let limit): "A write to the audit log has been taking longer than \(limit.components.seconds) s."
        case .closed: "The audit log has been closed."
        }
    }
}
