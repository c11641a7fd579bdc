/// A pattern for whole identifiers. `*` matches any run of characters, also an empty one. All other bytes match
/// themselves, case-sensitively. Matching takes linear time in the text for every pattern.
public struct Pattern: Hashable, Sendable {
    public let text: String

    /// The bytes before, between and after the stars; a single piece without a star.
    private let pieces: [Piece]

    public init(_ text: String) {
        self.text = text
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { Piece(Array($0)) }
    }

    /// Whether it matches only one identifier.
    public var isExact: Bool { pieces.count == 1 }

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
        // The earliest match of each piece leaves the most text for the next.
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

/// A Knuth-Morris-Pratt search: it reads each byte of the text once.
private struct Piece: Hashable {
    let bytes: [UInt8]
    /// For each number of matched bytes, how many stay matched if the next byte differs.
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

    /// The end of the first occurrence in `text[start..<end]`.
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
