/// Notes of checkpoints one after the other, each followed by an empty line: a file that is only appended to.
public struct NoteList: Sendable {
    public let notes: [SignedNote]
    /// What stands behind the last whole note: a writer was stopped in the middle of one. Usually empty.
    public let remainder: String

    /// What to append for a note.
    public static func text(of note: SignedNote) -> String { note.description + "\n" }

    /// Reads notes whose texts have no empty lines, as those of checkpoints.
    ///
    /// - Throws: for the first of them that is malformed.
    public init(parsing bytes: [UInt8]) throws(NoteError) {
        var notes: [SignedNote] = []
        var start = 0
        var blanks = 0
        for index in bytes.indices.dropFirst() where bytes[index] == newline && bytes[index - 1] == newline {
            // Of every two empty lines one divides a note, and one ends it.
            blanks += 1
            guard blanks.isMultiple(of: 2) else { continue }
            notes.append(try SignedNote(parsing: Array(bytes[start..<index])))
            start = index + 1
        }
        self.notes = notes
        remainder = String(decoding: bytes[start...], as: UTF8.self)
    }
}
