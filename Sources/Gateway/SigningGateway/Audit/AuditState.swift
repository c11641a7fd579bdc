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
