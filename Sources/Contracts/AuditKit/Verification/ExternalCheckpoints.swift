import Crypto
public import TransparencyLog

/// Visits stored notes one by one.
public typealias NoteSource = (_ visit: (SignedNote) -> Void) throws(AuditStoreError) -> Void

/// External checkpoints: their sizes and roots, and the source to read them again. A gateway issues half a million in a
/// year, so the notes themselves are not kept.
public struct ExternalCheckpoints {
    /// The unverified content of a checkpoint.
    struct Claim {
        let size: Int
        let root: MerkleHash
    }

    private(set) var claims: [Claim] = []
    /// The checkpoint of `largestSize`.
    private(set) var newest: SignedNote?
    public private(set) var largestSize: Int?
    /// As bytes, because `String` equality ignores the encoding.
    private var origins: Set<[UInt8]> = []
    /// Covers all notes, to detect a change between two reads.
    private var hash = SHA256()
    /// Notes that are not checkpoints.
    private var others = 0
    private let source: NoteSource

    /// - Parameter source: must supply the same notes each time.
    public init(_ source: @escaping NoteSource) throws(AuditStoreError) {
        self.source = source
        try source { add($0) }
    }

    public init(_ notes: [SignedNote]) {
        source = { visit in for note in notes { visit(note) } }
        for note in notes { add(note) }
    }

    private mutating func add(_ note: SignedNote) {
        Self.update(&hash, with: note)
        guard let checkpoint = try? Checkpoint(parsing: note.text) else { return others += 1 }
        origins.insert(Array(checkpoint.origin.utf8))
        claims.append(Claim(size: checkpoint.size, root: checkpoint.root))
        if largestSize.map({ checkpoint.size > $0 }) ?? true { (largestSize, newest) = (checkpoint.size, note) }
    }

    public var count: Int { claims.count + others }

    func areAll(of origin: String) -> Bool {
        others == 0 && origins.allSatisfy { $0.elementsEqual(origin.utf8) }
    }

    private static func update(_ hash: inout SHA256, with note: SignedNote) {
        hash.update(data: Array(note.description.utf8))
    }

    /// - Throws: `.damaged` if the notes changed, because a checkpoint that contradicts the log must not disappear.
    func read(_ visit: (SignedNote) -> Void) throws(AuditStoreError) {
        var now = SHA256()
        try source { note in
            Self.update(&now, with: note)
            visit(note)
        }
        guard now.finalize() == hash.finalize() else {
            throw .damaged("The external checkpoints changed during the verification; verify again.")
        }
    }

    public func notes(size: Int) throws(AuditStoreError) -> [SignedNote] {
        guard claims.contains(where: { $0.size == size }) else { return [] }
        var found: [SignedNote] = []
        try read { note in
            if (try? Checkpoint(parsing: note.text))?.size == size { found.append(note) }
        }
        return found
    }
}
