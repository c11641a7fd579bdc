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

    private static let dash = Array("\u{2014} ".utf8)

    /// Reads notes whose texts have no empty lines, as those of checkpoints.
    ///
    /// - Throws: when there is something and no note in it.
    public init(parsing bytes: [UInt8]) throws(NoteError) {
        let (blocks, end) = Self.blocks(of: bytes)
        var notes: [SignedNote] = []
        var failure: NoteError?
        var damaged = 0
        var index = 0
        while index < blocks.count {
            let next = index + 1
            guard next < blocks.count, bytes[blocks[next]].starts(with: Self.dash) else {
                // The text of a note that is not whole is the remainder's.
                if next < blocks.count || bytes[blocks[index]].starts(with: Self.dash) { damaged += 1 }
                index = next
                continue
            }
            do throws(NoteError) {
                notes.append(
                    try SignedNote(
                        parsing: Array(bytes[blocks[index].lowerBound..<blocks[next].upperBound]) + [newline]))
            } catch {
                failure = failure ?? error
                damaged += 1
            }
            index += 2
        }
        if notes.isEmpty, damaged > 0 { throw failure ?? .unsigned }
        self.notes = notes
        self.damaged = damaged
        let hasText = blocks.last.map { !bytes[$0].starts(with: Self.dash) } ?? false
        let start = hasText ? blocks.last?.lowerBound ?? end : end
        remainder = String(decoding: bytes[start...], as: UTF8.self)
    }

    /// What stands before each empty line, without the newline of its last line; and where what has no empty line begins.
    private static func blocks(of bytes: [UInt8]) -> ([Range<Int>], end: Int) {
        var blocks: [Range<Int>] = []
        var start = 0
        var index = 1
        while index < bytes.count {
            guard bytes[index] == newline, bytes[index - 1] == newline else {
                index += 1
                continue
            }
            if start < index - 1 { blocks.append(start..<index - 1) }
            start = index + 1
            // More newlines than two are one end as well.
            while start < bytes.count, bytes[start] == newline { start += 1 }
            index = start + 1
        }
        return (blocks, start)
    }
}
