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
        var rest = end
        var index = 0
        while index < blocks.count {
            let block = blocks[index]
            let isLate = isSignature(block)
            guard index + 1 < blocks.count else {
                // The text of a note that is still incomplete.
                if isLate { damaged += 1 } else { rest = block.lowerBound }
                break
            }
            guard !isLate, isSignature(blocks[index + 1]) else {
                damaged += 1
                index += 1
                continue
            }
            let note = self.note(block.lowerBound...blocks[index + 1].upperBound)
            index += 2
            if let note { try visit(note) }
        }
        remainder.removeFirst(rest)
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

    private func isSignature(_ block: Range<Int>) -> Bool { remainder[block].starts(with: Self.dash) }

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
