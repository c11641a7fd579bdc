import AuditKit
import TransparencyLog

/// Makes logs as a gateway does.
struct SampleLog {
    static let origin = "example.com/log"

    let signer: NoteSigner
    let reader: MemoryAuditReader
    private var tree = AppendOnlyTree()
    private var segment = AppendOnlyTree()

    /// - Parameters:
    ///   - checkpoints: the log sizes at which a checkpoint is kept.
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
        segment = AppendOnlyTree()
    }

    /// Signs a tree head for the current entries; with `seal`, also for the registers.
    func head(seal: String? = nil, cosigner: NoteSigner? = nil) throws -> SignedTreeHead {
        let checkpoint = try Checkpoint(
            origin: Self.origin, size: tree.size, root: tree.root, extensions: seal.map { [$0] } ?? [])
        var note = try signer.sign(checkpoint.text)
        if let cosigner { note = try note.adding(try cosigner.sign(checkpoint.text).signatures[0]) }
        return SignedTreeHead(size: tree.size, note: note.description)
    }

    /// Removes segments, as an archive does. `isRecorded` adds the archive's entry to the log.
    ///
    /// - Returns: the bodies of the entries in each segment.
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
        externals: [SignedTreeHead] = [], archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil },
        faultLimit: Int = 100
    ) throws -> AuditReport {
        let notes = try externals.map { try SignedNote(parsing: $0.note) }
        return try AuditVerifier(
            verifiers, externals: [ExternalCheckpoints(notes)], archive: archive, faultLimit: faultLimit
        ).verify(reader)
    }
}

extension MemoryAuditReader {
    /// Replaces a body and keeps the old mark; `isMarked` computes a matching one.
    func change(_ position: Int, to body: [UInt8], isMarked: Bool = false) {
        let old = stored[position]
        let mark = isMarked ? StoredEntry.mark(of: .leaf(body), at: old.index) : old.mark
        stored[position] = StoredEntry(index: old.index, body: body, mark: mark)
    }

    /// Changes only the index of an entry.
    func move(_ position: Int, to index: Int) {
        stored[position] = StoredEntry(index: index, body: stored[position].body, mark: stored[position].mark)
    }

    /// Recomputes a segment's root, as an attacker without the key can.
    func recomputeRoot(of segment: Int) {
        var tree = AppendOnlyTree()
        for entry in stored where AuditSegment.entries(of: segment).contains(entry.index) {
            tree.append(.leaf(entry.body))
        }
        roots[segment] = tree.root.bytes
    }

    /// Renumbers the entries by position, and recomputes their marks and the roots of segments.
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
