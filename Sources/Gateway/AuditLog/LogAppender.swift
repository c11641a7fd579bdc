import AuditKit
import SigningKit
import TransparencyLog

/// An open store and the Merkle tree over its entries. One thread at a time uses it.
struct LogAppender {
    let store: any AuditStore
    private let signer: AuditSigner
    /// The tree over the entries that are known to be durable.
    private(set) var tree = LogTree()
    /// The signed tree head that this process wrote last.
    private var head: SignedTreeHead?
    /// The size of the last checkpoint for publication; -1 before the first.
    private var lastCheckpoint = -1
    /// The durable registers by name.
    private(set) var registers: [String: AuditRegister]
    /// The time of the last entry when the store was opened; nil if there was none or it is archived.
    let lastTime: Timestamp?
    private var seal: String

    /// Builds the tree from the store, and compares it with the largest known checkpoint: the store must hold all
    /// entries that the log has published.
    ///
    /// - Parameter continuesMovedLog: whether the log may end with an entry `moved`.
    init(
        _ store: any AuditStore, signer: AuditSigner, known: [SignedTreeHead], continuesMovedLog: Bool = false
    ) throws(AuditStoreError) {
        self.store = store
        self.signer = signer
        var tree = LogTree()
        let (registers, last) = try store.write { transaction throws(AuditStoreError) in
            let opening = LogAppenderOpening(
                transaction: transaction, signer: signer, origin: store.identity.origin)
            try opening.build(&tree, known: known)
            let last = tree.size > 0 ? try transaction.entry(at: tree.size - 1) : nil
            return (try opening.registers(), last.flatMap { EntryFields($0.body) })
        }
        if !continuesMovedLog { try Self.refuseMoved(last) }
        self.tree = tree
        self.registers = registers
        lastTime = last?.time
        seal = RegistersLine.line(over: registers.values)
    }

    /// - Returns: nil if the registers are not those from which the group's new values were computed. Nothing is written
    ///   then.
    mutating func append(
        _ group: AuditQueue.Group, at time: Timestamp
    ) throws(AuditStoreError) -> (head: SignedTreeHead, entryCount: Int)? {
        let (store, signer, origin, isQuiet) = (store, signer, store.identity.origin, tree.size == lastCheckpoint)
        let known = head
        var (tree, registers, seal, entryCount) = (tree, registers, seal, 0)
        let head = try store.write { transaction throws(AuditStoreError) -> SignedTreeHead? in
            // Verify the stored head only if this process did not write it.
            let stored = try transaction.head()
            if known == nil || stored != known {
                try Self.follow(stored, transaction, &tree, signer)
                registers = try LogAppenderOpening(transaction: transaction, signer: signer, origin: origin)
                    .registers()
                seal = RegistersLine.line(over: registers.values)
            }
            if let basis = group.basis, basis != registers.mapValues(\.value) { return nil }
            if let latest = group.latest, latest < .now { return nil }
            let begin = tree.size + group.notes.count
            var entries = group.notes + group.entries
            if group.needsNewEntry, entries.isEmpty, isQuiet {
                entries = [AuditEntry(.idle, at: time)]
            }
            for entry in entries { try Self.append(entry, to: &tree, transaction) }
            entryCount = entries.count
            for one in group.registrations {
                let register = AuditRegister(name: one.name, value: one.value, entry: begin + one.position)
                try transaction.register(register)
                registers[register.name] = register
            }
            if !group.registrations.isEmpty { seal = RegistersLine.line(over: registers.values) }
            let head = try signer.head(of: tree, origin: origin, seal: seal)
            try transaction.setHead(head)
            for checkpoint in group.checkpoints { try transaction.keep(checkpoint) }
            return head
        }
        (self.tree, self.registers, self.seal) = (tree, registers, seal)
        guard let head else { return nil }
        self.head = head
        if group.needsNewEntry { lastCheckpoint = head.size }
        return (head, entryCount)
    }

    var content: AuditLog.Content { AuditLog.Content(entryCount: tree.size, registers: registers) }

    private static func append(
        _ entry: AuditEntry, to tree: inout LogTree, _ transaction: any AuditTransaction
    ) throws(AuditStoreError) {
        let leaf = MerkleHash.leaf(entry.bytes)
        let index = tree.size
        try transaction.append(
            StoredEntry(index: index, body: entry.bytes, mark: StoredEntry.mark(of: leaf, at: index)))
        if let segment = tree.append(leaf) { try transaction.close(segment: segment.number, root: segment.root.bytes) }
    }

    /// - Parameter last: the last entry of the log.
    private static func refuseMoved(_ last: EntryFields?) throws(AuditStoreError) {
        guard let last, last.kind == "moved" else { return }
        throw .replaced(
            "The log was moved to \(last.text("to") ?? "another database"). Give that one as audit.database: nothing "
                + "follows here. If it is given already, privyseal audit migrate was interrupted: run it again.")
    }

    /// Adds the entries that another process has appended since, such as a signature on the command line.
    private static func follow(
        _ stored: SignedTreeHead?, _ transaction: any AuditTransaction, _ tree: inout LogTree, _ signer: AuditSigner
    ) throws(AuditStoreError) {
        let size = stored?.size ?? 0
        guard size != tree.size || size > 0 else { return }
        guard let stored, size >= tree.size else {
            throw .replaced(
                "It holds \(size) entries, but had \(tree.size): an older copy replaced it. Restore the right one.")
        }
        if size > tree.size {
            var followed = tree
            var last: [UInt8] = []
            try transaction.entries(in: tree.size..<size) { entry throws(AuditStoreError) in
                _ = followed.append(MerkleHash.leaf(entry.body))
                last = entry.body
                return true
            }
            try refuseMoved(EntryFields(last))
            tree = followed
        }
        guard try signer.checkpoint(in: stored).root == tree.root, size == tree.size else {
            throw .replaced("It holds another log than before. Restore the right one.")
        }
    }
}

/// Signs checkpoints with the key of the log, and verifies such signatures.
struct AuditSigner: Sendable {
    let signer: NoteSigner

    /// - Parameter seal: the line over all registers, see `RegistersLine`.
    func head(of tree: LogTree, origin: String, seal: String) throws(AuditStoreError) -> SignedTreeHead {
        do throws(NoteError) {
            let checkpoint = try Checkpoint(origin: origin, size: tree.size, root: tree.root, extensions: [seal])
            return SignedTreeHead(size: tree.size, note: try signer.sign(checkpoint.text).description)
        } catch {
            throw .failed("The checkpoint could not be signed. \(error)")
        }
    }

    /// Parses a signed tree head, and verifies its signature by the key of this log.
    func checkpoint(in head: SignedTreeHead) throws(AuditStoreError) -> Checkpoint {
        do throws(NoteError) {
            return try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: [signer.verifier])
        } catch {
            throw .damaged("The log's key did not sign the checkpoint over \(head.size) entries. \(error)")
        }
    }
}

/// The Merkle tree of a log. It computes the root of each segment that closes.
struct LogTree: Sendable {
    /// The tree over the closed segments.
    private var closed = AppendOnlyTree()
    /// The tree over the entries after them.
    private var open = AppendOnlyTree()

    /// The number of entries.
    var size: Int { closed.size + open.size }

    var root: MerkleHash {
        var whole = closed
        // Always true: `open` is smaller than a segment.
        _ = whole.append(open)
        return whole.root
    }

    /// - Returns: the segment that the leaf completes.
    mutating func append(_ leaf: MerkleHash) -> (number: Int, root: MerkleHash)? {
        open.append(leaf)
        guard open.size == AuditSegment.size else { return nil }
        let root = open.root
        defer { append(segment: root) }
        return (closed.size / AuditSegment.size, root)
    }

    /// Appends a whole segment by its root. The tree must end at a segment boundary.
    mutating func append(segment root: MerkleHash) {
        // Always true: `closed` holds whole segments only.
        _ = closed.append(perfectSubtree: root, height: AuditSegment.height)
        open = AppendOnlyTree()
    }
}
