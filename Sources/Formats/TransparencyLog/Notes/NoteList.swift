/// Checkpoint notes in an append-only file, each followed by an empty line.
public struct NoteList: Sendable {
    public let notes: [SignedNote]
    /// The number of damaged pieces between the notes: a writer stopped inside a note, and another appended after it.
    public let damaged: Int
    /// The text after the last complete note, left by a writer that stopped inside a note. Usually empty.
    public let remainder: String

    /// The text to append for a note.
    public static func text(of note: SignedNote) -> String { note.description + "\n" }

    /// The text to append before the next note, if the file ends inside a note. Usually empty.
    public static func separator(after end: some BidirectionalCollection<UInt8>) -> String {
        end.isEmpty || end.suffix(2).elementsEqual([newline, newline]) ? "" : "\n\n"
    }

    /// Reads notes whose texts have no empty lines, such as checkpoints.
    ///
    /// - Throws: if the bytes are not empty and contain no note.
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
