import Encodings

/// The body of a request for a cosignature (C2SP tlog-witness, "add-checkpoint").
public struct AddCheckpointRequest: Hashable, Sendable {
    /// The largest number of hashes in a proof.
    public static let maximumHashes = 63
    /// The type of the body of 409, which has the size of the latest cosigned checkpoint.
    public static let sizeType = "text/x.tlog.size"

    /// The size of the latest checkpoint that the witness cosigned; 0 if there is none.
    public let oldSize: Int
    /// RFC 6962 §2.1.2.
    public let hashes: [MerkleHash]
    public let note: SignedNote

    public init(oldSize: Int, hashes: [MerkleHash], note: SignedNote) {
        (self.oldSize, self.hashes, self.note) = (oldSize, hashes, note)
    }

    /// A request to a witness that may have cosigned no checkpoint yet.
    public init(_ note: SignedNote) { self.init(oldSize: 0, hashes: [], note: note) }

    /// Nil for a body of another form.
    public init?(parsing bytes: [UInt8]) {
        guard let end = bytes.indices.dropLast().first(where: { bytes[$0] == newline && bytes[$0 + 1] == newline })
        else { return nil }
        let lines = bytes[..<end].split(separator: newline, omittingEmptySubsequences: false)
        let keyword = Array("old ".utf8)
        guard let first = lines.first, first.starts(with: keyword), lines.count <= 1 + Self.maximumHashes,
            let size = DecimalNumber.parse(first.dropFirst(keyword.count)),
            let note = try? SignedNote(parsing: Array(bytes[(end + 2)...]))
        else { return nil }
        var hashes: [MerkleHash] = []
        for line in lines.dropFirst() {
            guard let hash = Base64.standard.decode(line).flatMap({ MerkleHash(bytes: $0) }) else { return nil }
            hashes.append(hash)
        }
        self.init(oldSize: size, hashes: hashes, note: note)
    }

    public var text: String {
        let lines = hashes.map { Base64.standard.text($0.bytes) + "\n" }
        return "old \(oldSize)\n\(lines.joined())\n\(note)"
    }
}
