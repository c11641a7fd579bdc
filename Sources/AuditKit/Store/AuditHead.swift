/// How far a log goes, signed.
public struct AuditHead: Hashable, Sendable {
    /// Entries.
    public let size: Int
    /// The checkpoint as a signed note: text, empty line, signatures (C2SP signed-note, tlog-checkpoint).
    public let note: String

    public init(size: Int, note: String) {
        self.size = size
        self.note = note
    }
}
