/// Reads checkpoint notes one by one from bytes in chunks. It keeps none, because there may be a million.
public struct NoteScanner {
    /// The largest number of bytes before the end of a note. A longer text is not a note.
    private static let capacity = 2 * SignedNote.maximumSize

    /// The number of damaged pieces between the notes.
    public private(set) var damaged = 0
    /// The error of the first damaged piece with signatures.
    public private(set) var failure: NoteError?
    /// The bytes after the last complete note.
    public private(set) var remainder: [UInt8] = []

    private static let dash = Array("\u{2014} ".utf8)

    public init() {}

    /// - Parameter visit: receives each complete note, in order.
    public mutating func read<Failure: Error>(
        _ bytes: ArraySlice<UInt8>, _ visit: (SignedNote) throws(Failure) -> Void
    ) throws(Failure) {
        remainder += bytes
        let (blocks, end) = Self.blocks(of: remainder)
        /// The text of a note that is still incomplete.
        var text: Range<Int>?
        for block in blocks {
            if !remainder[block].starts(with: Self.dash) {
                if text != nil { damaged += 1 }
                text = block
            } else if let begin = text?.lowerBound {
                text = nil
                if let note = note(begin...block.upperBound) { try visit(note) }
            } else {
                damaged += 1
            }
        }
        remainder.removeFirst(text?.lowerBound ?? end)
        if remainder.count > Self.capacity {
            remainder = []
            damaged += 1
        }
    }

    private mutating func note(_ range: ClosedRange<Int>) -> SignedNote? {
        do throws(NoteError) {
            return try SignedNote(parsing: Array(remainder[range]))
        } catch {
            failure = failure ?? error
            damaged += 1
            return nil
        }
    }

    /// The ranges before empty lines, without their last newline, and the start of the rest that has no empty line.
    private static func blocks(of bytes: [UInt8]) -> ([Range<Int>], end: Int) {
        var blocks: [Range<Int>] = []
        // More than two newlines count as one separator, even if a chunk ended between them.
        var start = bytes.firstIndex { $0 != newline } ?? bytes.count
        var index = start + 1
        while index < bytes.count {
            guard bytes[index] == newline, bytes[index - 1] == newline else {
                index += 1
                continue
            }
            blocks.append(start..<index - 1)
            start = index + 1
            while start < bytes.count, bytes[start] == newline { start += 1 }
            index = start + 1
        }
        return (blocks, start)
    }
}

/// Checkpoint notes in an append-only file, each followed by an empty line.
public enum NoteList {
    /// The text to append for a note.
    public static func text(of note: SignedNote) -> String { note.description + "\n" }

    /// The text to append before the next note, if the file ends inside a note. Usually empty.
    public static func separator(after end: some BidirectionalCollection<UInt8>) -> String {
        end.isEmpty || end.suffix(2).elementsEqual([newline, newline]) ? "" : "\n\n"
    }
}
