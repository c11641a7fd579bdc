/// Notes of checkpoints one after the other, each followed by an empty line: a file that is only appended to.
public struct NoteList: Sendable {
    public let notes: [SignedNote]
    /// Pieces between the notes that are none: a writer was stopped in the middle of one, and another went on behind it.
    public let damaged: Int
    /// What stands behind the last whole note: a writer was stopped in the middle of one. Usually empty.
    public let remainder: String

    /// What to append for a note.
    public static func text(of note: SignedNote) -> String { note.description + "\n" }

    /// What to append first where the bytes end in the middle of a note, so that the next is not spoiled; usually nothing.
    public static func separator(after end: some BidirectionalCollection<UInt8>) -> String {
        end.isEmpty || end.suffix(2).elementsEqual([newline, newline]) ? "" : "\n\n"
    }

    /// Reads notes whose texts have no empty lines, as those of checkpoints.
    ///
    /// - Throws: when there is something and no note in it.
    public init(parsing bytes: [UInt8]) throws(NoteError) {
        var notes: [SignedNote] = []
        var scanner = NoteScanner()
        scanner.read(bytes[...]) { notes.append($0) }
        if notes.isEmpty, scanner.damaged > 0 { throw scanner.failure ?? .unsigned }
        self.notes = notes
        damaged = scanner.damaged
        remainder = String(decoding: scanner.remainder, as: UTF8.self)
    }
}
