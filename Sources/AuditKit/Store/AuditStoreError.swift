/// Why a store did not do what it was asked to. Each with a sentence.
public enum AuditStoreError: Error, Hashable, Sendable {
    /// There is nothing at the location.
    case missing(String)
    /// No space is left.
    case full(String)
    /// It must not be written to.
    case readOnly(String)
    /// Another writer took too long.
    case busy(String)
    /// At the location there is not what was opened any more, or it holds another or an older log.
    case replaced(String)
    /// What is stored cannot be what was written.
    case damaged(String)
    /// The location says nothing that the store can use, or holds something that is not such a log.
    case unfit(String)
    /// Anything else that the disk or the operating system refused.
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
