import Crypto
public import TransparencyLog

/// Gives notes, one after the other, from where they are kept.
public typealias NoteSource = (_ visit: (SignedNote) -> Void) throws(AuditStoreError) -> Void

/// Checkpoints from a second place: what each says, and where it can be read again. A gateway gives out half a million in a
/// year, so no more of them is kept.
public struct ExternalCheckpoints {
    /// What a checkpoint says, whoever signed it.
    struct Claim {
        let size: Int
        let root: MerkleHash
    }

    private(set) var claims: [Claim] = []
    /// The largest.
    private(set) var newest: SignedNote?
    public private(set) var largestSize: Int?
    /// As bytes: two texts may be equal and not the same.
    private var origins: Set<[UInt8]> = []
    /// Over all notes, so that others in their place are noticed.
    private var hash = SHA256()
    /// Notes that are no checkpoints.
    private var others = 0
    private let source: NoteSource

    /// - Parameter source: has to give the same notes each time.
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

    /// - Throws: `.damaged` when they are no longer what they were: who was seen to speak against the log must not be gone.
    func read(_ visit: (SignedNote) -> Void) throws(AuditStoreError) {
        var now = SHA256()
        try source { note in
            Self.update(&now, with: note)
            visit(note)
        }
        guard now.finalize() == hash.finalize() else {
            throw .damaged("The checkpoints that were kept elsewhere changed while they were read; verify again.")
        }
    }

    /// All of a size, in order.
    public func notes(size: Int) throws(AuditStoreError) -> [SignedNote] {
        guard claims.contains(where: { $0.size == size }) else { return [] }
        var found: [SignedNote] = []
        try read { note in
            if (try? Checkpoint(parsing: note.text))?.size == size { found.append(note) }
        }
        return found
    }
}
