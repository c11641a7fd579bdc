import AuditKit
import TransparencyLog

/// Makes logs as a gateway would.
struct SampleLog {
    static let origin = "example.com/log"

    let signer: NoteSigner
    let reader: MemoryAuditReader
    private var tree = GrowingTree()
    private var segment = GrowingTree()

    /// - Parameters:
    ///   - checkpoints: the sizes at which one is kept.
    init(size: Int, checkpoints: [Int] = [], signer: NoteSigner? = nil) throws {
        self.signer = try signer ?? .generate(name: Self.origin)
        reader = MemoryAuditReader(origin: Self.origin)
        let checkpoints = Set(checkpoints)
        for index in 0..<size {
            append(Self.body(index))
            if checkpoints.contains(index + 1) { reader.kept.append(try head()) }
        }
        reader.storedHead = size > 0 ? try head() : nil
    }

    var verifiers: [NoteVerifier] { [signer.verifier] }

    static func body(_ index: Int) -> [UInt8] { Array(#"{"kind":"idle","number":\#(index),"v":1}"#.utf8) }

    mutating func append(_ body: [UInt8]) {
        let leaf = MerkleHash.leaf(body)
        let index = tree.size
        reader.stored.append(StoredEntry(index: index, body: body, mark: StoredEntry.mark(of: leaf, at: index)))
        tree.append(leaf)
        segment.append(leaf)
        guard segment.size == AuditSegment.size else { return }
        reader.roots.append(segment.root.bytes)
        segment = GrowingTree()
    }

    /// Signs for what is there; with a seal, also for the registers.
    func head(seal: String? = nil, cosigner: NoteSigner? = nil) throws -> AuditHead {
        let checkpoint = try Checkpoint(
            origin: Self.origin, size: tree.size, root: tree.root, extensions: seal.map { [$0] } ?? [])
        var note = try signer.sign(checkpoint.text)
        if let cosigner { note = try note.adding(try cosigner.sign(checkpoint.text).signatures[0]) }
        return AuditHead(size: tree.size, note: note.description)
    }

    /// Takes segments out, as an archive does that says so in the log.
    ///
    /// - Returns: what they held.
    mutating func archive(segments count: Int, isRecorded: Bool = true) throws -> [[[UInt8]]] {
        let end = count * AuditSegment.size
        if isRecorded {
            append(Array(#"{"actor":"anna","from":0,"kind":"archive","to":\#(end),"v":1}"#.utf8))
            reader.storedHead = try head()
        }
        let bodies = reader.stored.prefix(end).map(\.body)
        reader.stored.removeFirst(end)
        reader.first = end
        return (0..<count).map { Array(bodies[AuditSegment.entries(of: $0)]) }
    }

    func verify(
        externals: [AuditHead] = [], archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil },
        faultLimit: Int = 100
    ) throws -> AuditReport {
        let notes = try externals.map { try SignedNote(parsing: $0.note) }
        return try AuditVerifier(
            verifiers, externals: [ExternalCheckpoints(notes)], archive: archive, faultLimit: faultLimit
        ).verify(reader)
    }
}

extension MemoryAuditReader {
    /// Puts another body in, with the old mark or one that fits.
    func change(_ position: Int, to body: [UInt8], isMarked: Bool = false) {
        let old = stored[position]
        let mark = isMarked ? StoredEntry.mark(of: .leaf(body), at: old.index) : old.mark
        stored[position] = StoredEntry(index: old.index, body: body, mark: mark)
    }

    /// Gives an entry another index, and leaves the rest as it is.
    func move(_ position: Int, to index: Int) {
        stored[position] = StoredEntry(index: index, body: stored[position].body, mark: stored[position].mark)
    }

    /// As an attacker would who knows how the marks and roots are made, but has no key.
    func recomputeRoot(of segment: Int) {
        var tree = GrowingTree()
        for entry in stored where AuditSegment.entries(of: segment).contains(entry.index) {
            tree.append(.leaf(entry.body))
        }
        roots[segment] = tree.root.bytes
    }

    /// Numbers the entries anew as they stand, and recomputes their marks and the roots of segments.
    func makeFit() {
        stored = stored.enumerated().map { index, entry in
            StoredEntry(index: index, body: entry.body, mark: StoredEntry.mark(of: .leaf(entry.body), at: index))
        }
        roots = []
        for segment in 0..<stored.count / AuditSegment.size {
            roots.append([])
            recomputeRoot(of: segment)
        }
    }
}
