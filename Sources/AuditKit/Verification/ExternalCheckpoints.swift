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
    private var origins: Set<String> = []
    /// Notes that are no checkpoints.
    private var others = 0
    private let source: NoteSource

    /// - Parameter source: gives the same notes each time.
    public init(_ source: @escaping NoteSource) throws(AuditStoreError) {
        self.source = source
        try source { add($0) }
    }

    public init(_ notes: [SignedNote]) {
        source = { visit in for note in notes { visit(note) } }
        for note in notes { add(note) }
    }

    private mutating func add(_ note: SignedNote) {
        guard let checkpoint = try? Checkpoint(parsing: note.text) else { return others += 1 }
        origins.insert(checkpoint.origin)
        claims.append(Claim(size: checkpoint.size, root: checkpoint.root))
        if largestSize.map({ checkpoint.size > $0 }) ?? true { (largestSize, newest) = (checkpoint.size, note) }
    }

    public var count: Int { claims.count + others }

    func areAll(of origin: String) -> Bool {
        others == 0 && origins.allSatisfy { $0.utf8.elementsEqual(origin.utf8) }
    }

    func read(_ visit: (SignedNote) -> Void) throws(AuditStoreError) { try source(visit) }

    /// The first of a size.
    public func note(size: Int) throws(AuditStoreError) -> SignedNote? {
        guard claims.contains(where: { $0.size == size }) else { return nil }
        var found: SignedNote?
        try source { note in
            if found == nil, (try? Checkpoint(parsing: note.text))?.size == size { found = note }
        }
        return found
    }
}
