/// The size of a log and its signed checkpoint.
public struct SignedTreeHead: Hashable, Sendable {
    /// The number of entries.
    public let size: Int
    /// The checkpoint as a signed note: text, empty line, signatures (C2SP signed-note, tlog-checkpoint).
    public let note: String

    public init(size: Int, note: String) {
        self.size = size
        self.note = note
    }
}
