import Encodings

/// A log's statement of its size and root (C2SP tlog-checkpoint).
public struct Checkpoint: Hashable, Sendable {
    /// The upper bound keeps arithmetic on segments and positions from overflowing.
    private static let largestSize = 1 << 53

    public let origin: String
    /// The number of entries.
    public let size: Int
    public let root: MerkleHash
    /// Extension lines, without their newlines.
    public let extensions: [String]

    public init(origin: String, size: Int, root: MerkleHash, extensions: [String] = []) throws(NoteError) {
        guard !origin.isEmpty, Self.isLine(origin) else { throw .notCheckpoint(.origin) }
        guard (0...Self.largestSize).contains(size) else { throw .notCheckpoint(.size) }
        guard extensions.allSatisfy({ !$0.isEmpty && Self.isLine($0) }) else { throw .notCheckpoint(.extensions) }
        self.origin = origin
        self.size = size
        self.root = root
        self.extensions = extensions
    }

    /// Parses the text of a note.
    public init(parsing text: String) throws(NoteError) {
        guard text.utf8.last == newline else { throw .missingNewline }
        let lines = Array(text.utf8).dropLast().split(separator: newline, omittingEmptySubsequences: false)
        guard lines.count >= 3 else { throw .notCheckpoint(.lines) }
        guard let size = DecimalNumber.parse(lines[1]) else { throw .notCheckpoint(.size) }
        guard let root = Base64.standard.decode(lines[2]).flatMap({ MerkleHash(bytes: $0) }) else {
            throw .notCheckpoint(.root)
        }
        try self.init(
            origin: String(decoding: lines[0], as: UTF8.self), size: size, root: root,
            extensions: lines[3...].map { String(decoding: $0, as: UTF8.self) })
    }

    /// Reads a note signed by the log itself, with a key named like the origin. Verifies all signatures by known keys.
    public init(_ note: SignedNote, signedByLogWith verifiers: [NoteVerifier]) throws(NoteError) {
        let signers = try note.verify(with: verifiers)
        try self.init(parsing: note.text)
        try requireLog(among: signers)
    }

    /// Throws unless the log itself is among the signers.
    public func requireLog(among signers: [NoteVerifier]) throws(NoteError) {
        guard signers.contains(where: { $0.name.utf8.elementsEqual(origin.utf8) }) else {
            throw .notSignedByLog(origin: origin)
        }
    }

    /// The text to sign.
    public var text: String {
        let root = String(decoding: Base64.standard.encode(root.bytes), as: UTF8.self)
        return ([origin, String(size), root] + extensions).map { $0 + "\n" }.joined()
    }

    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 } }
}

/// Decimal numbers in C2SP texts: ASCII digits without leading zeros.
public enum DecimalNumber {
    /// Nil for any other text, and on overflow.
    public static func parse(_ digits: some Collection<UInt8>) -> Int? {
        guard let number = Int(String(decoding: digits, as: UTF8.self)), number >= 0,
            String(number).utf8.elementsEqual(digits)
        else { return nil }
        return number
    }
}
