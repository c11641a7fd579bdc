/// Why a store call failed. The text is a sentence.
public enum AuditStoreError: Error, Hashable, Sendable {
    /// The location is empty.
    case missing(String)
    case full(String)
    case readOnly(String)
    /// Another writer held the lock for too long.
    case busy(String)
    /// The location no longer holds the log that was opened: it is empty, or holds another or an older log.
    case replaced(String)
    /// The stored data cannot be what was written.
    case damaged(String)
    /// The store cannot use the location, or the location holds something other than such a log.
    case unfit(String)
    /// Another error of the disk or the operating system.
    case failed(String)
    case closed
}

extension AuditStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let sentence), .full(let sentence), .readOnly(let sentence), .busy(let sentence),
            .replaced(let sentence), .damaged(let sentence), .unfit(let sentence), .failed(let sentence):
            sentence
        case .closed: "The audit log has been closed."
        }
    }
}
