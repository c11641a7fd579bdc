import Base64

/// What a log says of itself: how many entries it has, and what they are (C2SP tlog-checkpoint).
public struct Checkpoint: Hashable, Sendable {
    /// No log has more entries: what counts in segments and positions does not overflow.
    private static let largestSize = 1 << 53

    /// Which log.
    public let origin: String
    /// Entries.
    public let size: Int
    public let root: MerkleHash
    /// Further lines, each without its newline.
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

    /// Reads a note's text.
    public init(parsing text: String) throws(NoteError) {
        guard text.utf8.last == newline else { throw .openEnd }
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

    /// Reads a note that was signed by the log itself, whose key has the origin for its name, and verifies the signatures
    /// of all known keys.
    public init(_ note: SignedNote, signedByLogWith verifiers: [NoteVerifier]) throws(NoteError) {
        let signers = try note.verify(with: verifiers)
        try self.init(parsing: note.text)
        let origin = origin
        guard signers.contains(where: { $0.name.utf8.elementsEqual(origin.utf8) }) else {
            throw .notSignedByLog(origin: origin)
        }
    }

    /// What is signed.
    public var text: String {
        let root = String(decoding: Base64.standard.encode(root.bytes), as: UTF8.self)
        return ([origin, String(size), root] + extensions).map { $0 + "\n" }.joined()
    }

    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 } }
}
