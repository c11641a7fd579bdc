/// Whether the audit log can be written.
public enum AuditState: Hashable, Sendable {
    case writable
    /// The gateway signs nothing. The writer thread retries.
    case unwritable(AuditError)

    public var isWritable: Bool { self == .writable }

    /// `writable` or `unwritable`.
    public var name: String { isWritable ? "writable" : "unwritable" }

    /// Why the log is not writable, as a sentence; nil while it is.
    public var reason: String? {
        switch self {
        case .writable: nil
        case .unwritable(let error): error.description
        }
    }
}

/// Why an audit entry was not recorded. An answer that needs the entry must not be released.
public enum AuditError: Error, Hashable, Sendable {
    /// The log cannot be written. The value is a sentence for the operator.
    case unavailable(String)
    /// A write takes longer than this limit.
    case overdue(Duration)
    /// The gateway is stopping.
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
