/// Reads notes of checkpoints, one after the other, from bytes that come in pieces: of a million of them, none is kept.
public struct NoteScanner {
    /// Bytes that may come before the end of a note. What is longer is none.
    private static let capacity = 2 * SignedNote.maximumSize

    /// Pieces between the notes that are none.
    public private(set) var damaged = 0
    /// What was wrong with the first of them, if it had signatures.
    public private(set) var failure: NoteError?
    /// What stands behind the last whole note.
    public private(set) var remainder: [UInt8] = []

    private static let dash = Array("\u{2014} ".utf8)

    public init() {}

    /// - Parameter visit: is given each note that is whole now, in order.
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
                // The text of a note that is not whole yet.
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

    /// What stands before each empty line, without the newline of its last line; and where what has no empty line begins.
    private static func blocks(of bytes: [UInt8]) -> ([Range<Int>], end: Int) {
        var blocks: [Range<Int>] = []
        // More newlines than two are one end as well, also where a piece ended between them.
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
