import AuditKit
import SigningKit
import TransparencyLog

/// A store that is open, with the tree over what is in it. Used by one thread.
struct Ledger {
    let store: any AuditStore
    private let signer: AuditSigner
    /// Over the entries that are known to be durable.
    private(set) var tree = LogTree()
    /// That of the tree, as it was last written.
    private var head: AuditHead?
    /// Of the last checkpoint that went out.
    private var lastCheckpoint = -1
    /// By name, as they are known to be durable.
    private(set) var registers: [String: AuditRegister]
    /// Of the last entry when the store was opened; nil when it had none.
    let lastTime: Timestamp?
    private var seal: String
    /// Raised with each change of them.
    private(set) var registerChanges = 0

    /// Builds the tree anew from what is stored, and compares it with every checkpoint that is known: the store must hold
    /// all that the log ever promised to hold.
    init(_ store: any AuditStore, signer: AuditSigner, known: [AuditHead]) throws(AuditStoreError) {
        self.store = store
        self.signer = signer
        var tree = LogTree()
        let (registers, lastTime) = try store.write { transaction throws(AuditStoreError) in
            let opening = LedgerOpening(transaction, signer: signer, origin: store.identity.origin)
            try opening.build(&tree, known: known)
            return (try opening.registers(), try opening.lastTime(of: tree.size))
        }
        self.tree = tree
        self.registers = registers
        self.lastTime = lastTime
        seal = RegisterSeal.line(over: registers.values)
    }

    /// - Returns: the new head.
    mutating func append(_ group: AuditQueue.Group, at time: Timestamp) throws(AuditStoreError) -> AuditHead {
        let (store, signer, origin, isQuiet) = (store, signer, store.identity.origin, tree.size == lastCheckpoint)
        let known = head
        var (tree, registers, seal) = (tree, registers, seal)
        let head = try store.write { transaction throws(AuditStoreError) in
            // What this process wrote itself it need not verify.
            let stored = try transaction.head()
            if known == nil || stored != known {
                try Self.follow(stored, transaction, &tree, signer)
                registers = try LedgerOpening(transaction, signer: signer, origin: origin).registers()
                seal = RegisterSeal.line(over: registers.values)
            }
            let begin = tree.size + group.notes.count
            var news = group.notes + group.entries
            if group.needsNews, news.isEmpty, isQuiet { news = [AuditEntry(.idle, at: time).canonical] }
            for entry in news { try Self.append(entry, to: &tree, transaction) }
            for one in group.registrations {
                let register = AuditRegister(name: one.name, value: one.value, entry: begin + one.position)
                try transaction.register(register)
                registers[register.name] = register
            }
            if !group.registrations.isEmpty { seal = RegisterSeal.line(over: registers.values) }
            let head = try signer.head(of: tree, origin: origin, seal: seal)
            try transaction.setHead(head)
            for checkpoint in group.checkpoints { try transaction.keep(checkpoint) }
            return head
        }
        self.tree = tree
        self.head = head
        if registers != self.registers { registerChanges += 1 }
        (self.registers, self.seal) = (registers, seal)
        if group.needsNews { lastCheckpoint = head.size }
        return head
    }

    private static func append(
        _ entry: CanonicalEntry, to tree: inout LogTree, _ transaction: any AuditTransaction
    ) throws(AuditStoreError) {
        let leaf = MerkleHash.leaf(entry.bytes)
        let index = tree.size
        try transaction.append(
            StoredEntry(index: index, body: entry.bytes, mark: StoredEntry.mark(of: leaf, at: index)))
        if let segment = tree.append(leaf) { try transaction.close(segment: segment.number, root: segment.root.bytes) }
    }

    /// Takes over what another process has appended since, such as a signature on the command line.
    private static func follow(
        _ stored: AuditHead?, _ transaction: any AuditTransaction, _ tree: inout LogTree, _ signer: AuditSigner
    ) throws(AuditStoreError) {
        let size = stored?.size ?? 0
        guard size != tree.size || size > 0 else { return }
        guard let stored, size >= tree.size else {
            throw .replaced(
                "It holds \(size) entries, but had \(tree.size): an older copy was put in its place. Put the right one back."
            )
        }
        if size > tree.size {
            var followed = tree
            try transaction.entries(in: tree.size..<size) { entry throws(AuditStoreError) in
                _ = followed.append(MerkleHash.leaf(entry.body))
                return true
            }
            tree = followed
        }
        guard try signer.checkpoint(in: stored).root == tree.root, size == tree.size else {
            throw .replaced("It holds another log than the one that was written until now. Put the right one back.")
        }
    }
}
