/// How the audit log fares.
public enum AuditState: Hashable, Sendable {
    case writable
    /// Nothing is signed meanwhile. It is tried again in the background.
    case unwritable(AuditError)

    public var isWritable: Bool { self == .writable }

    /// In one word.
    public var name: String { isWritable ? "writable" : "unwritable" }

    /// Why it is not writable, as a sentence.
    public var reason: String? {
        switch self {
        case .writable: nil
        case .unwritable(let error): error.description
        }
    }
}
