/// A pattern for whole identifiers: `*` stands for any run of characters, also for none; all others for themselves, in their
/// case and to the byte. Matching takes time linear in the text, whatever the pattern.
public struct Pattern: Hashable, Sendable {
    public let text: String

    /// What stands before, between and behind the stars; without a star one piece, the whole.
    private let pieces: [Piece]

    public init(_ text: String) {
        self.text = text
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { Piece(Array($0)) }
    }

    /// Whether it stands for one identifier only.
    public var isExact: Bool { pieces.count == 1 }

    /// Whether it stands for every identifier.
    public var isEverything: Bool { !isExact && pieces.allSatisfy(\.bytes.isEmpty) }

    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(matches)
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = pieces.first, let last = pieces.last, text.starts(with: first.bytes) else { return false }
        guard !isExact else { return text.count == first.bytes.count }
        let end = text.count - last.bytes.count
        guard end >= first.bytes.count, text[end...].elementsEqual(last.bytes) else { return false }
        // The earliest place for each piece leaves the most room for the next.
        var position = first.bytes.count
        for piece in pieces.dropFirst().dropLast() {
            guard let next = piece.end(in: text, from: position, to: end) else { return false }
            position = next
        }
        return true
    }
}

extension Pattern: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String { text }
    public init(stringLiteral text: String) { self.init(text) }
}

/// Bytes to look for, as Knuth, Morris and Pratt do: the text is read once, and never again from an earlier place.
private struct Piece: Hashable {
    let bytes: [UInt8]
    /// For each count of bytes that fit, how many of them fit still when the next one does not.
    private let fallback: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var fallback = [Int](repeating: 0, count: bytes.count + 1)
        var fitting = 0
        for index in bytes.indices.dropFirst() {
            while fitting > 0, bytes[index] != bytes[fitting] { fitting = fallback[fitting] }
            if bytes[index] == bytes[fitting] { fitting += 1 }
            fallback[index + 1] = fitting
        }
        self.fallback = fallback
    }

    /// Where its first occurrence in `text[start..<end]` ends.
    func end(in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
        guard !bytes.isEmpty else { return start }
        var fitting = 0
        for index in start..<max(start, end) {
            while fitting > 0, text[index] != bytes[fitting] { fitting = fallback[fitting] }
            if text[index] == bytes[fitting] { fitting += 1 }
            if fitting == bytes.count { return index + 1 }
        }
        return nil
    }
}
