import Encodings

/// Text with signatures (C2SP signed-note). Do not trust it before a known key has verified it.
public struct SignedNote: Hashable, Sendable {
    /// The largest note, in bytes.
    public static let maximumSize = 1 << 20
    public static let maximumSignatures = 100

    /// With its last newline, without the empty line after it.
    public let text: String
    public let signatures: [NoteSignature]

    public init(text: String, signatures: [NoteSignature]) throws(NoteError) {
        guard Self.isPlain(text.utf8) else { throw .notText }
        guard text.utf8.last == newline else { throw .missingNewline }
        guard !signatures.isEmpty else { throw .unsigned }
        guard signatures.count <= Self.maximumSignatures else { throw .tooLarge }
        self.text = text
        self.signatures = signatures
    }

    public init(parsing note: String) throws(NoteError) { try self.init(parsing: Array(note.utf8)) }

    public init(parsing bytes: [UInt8]) throws(NoteError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge }
        guard Self.isPlain(bytes), String(validating: bytes, as: UTF8.self) != nil else { throw .notText }
        // Use the last empty line, because the text may contain others.
        guard bytes.last == newline else { throw .missingNewline }
        guard let blank = bytes.indices.dropLast().last(where: { bytes[$0] == newline && bytes[$0 + 1] == newline }),
            blank + 2 < bytes.count
        else { throw .unsigned }
        let lines = bytes[(blank + 2)...].dropLast().split(separator: newline, omittingEmptySubsequences: false)
        guard lines.count <= Self.maximumSignatures else { throw .tooLarge }
        var signatures: [NoteSignature] = []
        for line in lines {
            guard let signature = NoteSignature(line: line) else { throw .malformedSignature(signatures.count + 1) }
            signatures.append(signature)
        }
        try self.init(text: String(decoding: bytes[...blank], as: UTF8.self), signatures: signatures)
    }

    public func adding(_ signature: NoteSignature) throws(NoteError) -> SignedNote {
        try SignedNote(text: text, signatures: signatures + [signature])
    }

    /// Verifies the signatures of all known keys, and ignores other signatures.
    ///
    /// - Returns: the keys that signed, at least one.
    /// - Throws: `.wrongSignature` if a known key did not sign this text, `.unknownSigners` if no known key signed.
    @discardableResult
    public func verify(with verifiers: [NoteVerifier]) throws(NoteError) -> [NoteVerifier] {
        var signers: [NoteVerifier] = []
        for signature in signatures {
            guard let verifier = verifiers.first(where: { $0.made(signature) }) else { continue }
            guard verifier.verify(signature.bytes, of: text) else { throw .wrongSignature(name: signature.name) }
            signers.append(verifier)
        }
        guard !signers.isEmpty else { throw .unknownSigners(signatures.map(\.name)) }
        return signers
    }

    /// Whether there are no ASCII control characters below 0x20 except newline.
    private static func isPlain(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 || $0 == newline }
    }
}

let newline = UInt8(ascii: "\n")

extension SignedNote: CustomStringConvertible {
    /// The whole note: text, empty line, signatures.
    public var description: String { text + "\n" + signatures.map(\.line).joined() }
}

public struct NoteSignature: Hashable, Sendable {
    /// The name of the key.
    public let name: String
    public let keyID: UInt32
    /// For Ed25519 64 bytes, for ECDSA DER.
    public let bytes: [UInt8]

    public init(name: String, keyID: UInt32, bytes: [UInt8]) throws(NoteError) {
        guard KeyName.isFit(name) else { throw .invalidName }
        self.name = name
        self.keyID = keyID
        self.bytes = bytes
    }

    /// An em dash and a space.
    private static let beginning: [UInt8] = Array("\u{2014} ".utf8)

    /// Nil unless the line, without its newline, has the right format (C2SP signed-note, "Signatures").
    init?(line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.beginning) else { return nil }
        let parts = line.dropFirst(Self.beginning.count)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = String(validating: parts[0], as: UTF8.self), KeyName.isFit(name),
            let bytes = Base64.standard.decode(parts[1]), bytes.count > 4
        else { return nil }
        self.name = name
        keyID = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        self.bytes = Array(bytes.dropFirst(4))
    }

    /// The line with its newline.
    public var line: String {
        let keyID = withUnsafeBytes(of: keyID.bigEndian) { Array($0) }
        return "\u{2014} \(name) \(Base64.standard.text(keyID + bytes))\n"
    }
}

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
        let isContinuation = !remainder.isEmpty
        let seam = max(0, remainder.count - 1)
        remainder += bytes
        // Look at each byte once: what came before has been searched already.
        guard !isContinuation || Self.hasEmptyLine(remainder[seam...]) else { return limitRemainder() }
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
        limitRemainder()
    }

    private mutating func limitRemainder() {
        guard remainder.count > Self.capacity else { return }
        remainder = []
        damaged += 1
    }

    private static func hasEmptyLine(_ bytes: ArraySlice<UInt8>) -> Bool {
        var isAfterNewline = false
        for byte in bytes {
            if byte == newline, isAfterNewline { return true }
            isAfterNewline = byte == newline
        }
        return false
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
        guard signers.contains(where: { !$0.isWitness && $0.name.utf8.elementsEqual(origin.utf8) }) else {
            throw .notSignedByLog(origin: origin)
        }
    }

    /// The text to sign.
    public var text: String {
        let root = Base64.standard.text(root.bytes)
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
