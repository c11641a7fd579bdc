import AuditKit
import Encodings
import TransparencyLog

/// Builds the tree when a log is opened. It uses the stored roots of closed segments, so that a long log opens as fast
/// as a short one. The signed tree head reveals a wrong root.
struct LogAppenderOpening {
    let transaction: any AuditTransaction
    let signer: AuditSigner
    let origin: String

    func build(_ tree: inout LogTree, known: [SignedTreeHead]) throws(AuditStoreError) {
        guard let head = try transaction.head() else {
            guard known.isEmpty else { throw older(than: known.map(\.size).max() ?? 0, size: 0) }
            return try requireNothing(behind: 0)
        }
        let checkpoint = try signer.checkpoint(in: head)
        guard checkpoint.size == head.size else {
            throw .damaged("The head says \(head.size) entries, but was signed for \(checkpoint.size).")
        }
        guard checkpoint.origin == origin else {
            throw .damaged("The head is of the log \(checkpoint.origin), but this is \(origin).")
        }
        let roots = try transaction.segmentRoots()
        tree = try self.tree(of: head.size, roots)
        try requireNothing(behind: head.size)
        guard tree.root == checkpoint.root else {
            throw .damaged("Its entries do not match its signed head. Run privyseal audit verify for details.")
        }
        if let last = known.max(by: { $0.size < $1.size }) { try compare(with: last, head.size, roots) }
    }

    private func requireNothing(behind size: Int) throws(AuditStoreError) {
        try transaction.entries(in: size..<Int.max) { entry throws(AuditStoreError) in
            throw .damaged(
                "It holds the entry \(entry.index), but its head was signed for \(size) entries: the entry was "
                    + "inserted, or the head was changed. Run privyseal audit verify for details.")
        }
    }

    /// The registers. Each must match the entry that was written with it, and all must match the signed tree head.
    func registers() throws(AuditStoreError) -> [String: AuditRegister] {
        var registers: [String: AuditRegister] = [:]
        let head = try transaction.head()
        let size = head?.size ?? 0
        for register in try transaction.registers() {
            guard register.entry < size else {
                throw .damaged(
                    "The register \(register.name) refers to entry \(register.entry), which does not exist: the "
                        + "register was changed.")
            }
            // The entry may be archived.
            if let entry = try transaction.entry(at: register.entry) {
                let digest = Base64.url.encode(Array(AuditRegister.digest(of: register.value)))
                let fields = EntryFields(entry.body)
                guard fields?.text("register") == register.name,
                    fields?.text("digest")?.utf8.elementsEqual(digest) == true
                else {
                    throw .damaged(
                        "The register \(register.name) does not match entry \(register.entry): the register was "
                            + "changed. Run privyseal audit verify for details.")
                }
            }
            registers[register.name] = register
        }
        let seal = try head.flatMap { head throws(AuditStoreError) in
            RegistersLine.line(in: try signer.checkpoint(in: head))
        }
        guard seal == nil || seal == RegistersLine.line(over: registers.values) else {
            throw .damaged(
                "The registers do not match its signed head: one was changed, removed, or replaced by an older one. "
                    + "Run privyseal audit verify for details.")
        }
        return registers
    }

    private func compare(with known: SignedTreeHead, _ size: Int, _ roots: [[UInt8]]) throws(AuditStoreError) {
        guard known.size <= size else { throw older(than: known.size, size: size) }
        let checkpoint = try signer.checkpoint(in: known)
        guard try !isArchived(known.size, roots) else { return }
        guard try tree(of: known.size, roots).root == checkpoint.root else {
            throw .replaced(
                "The checkpoint over \(known.size) entries was issued for another log.")
        }
    }

    /// Whether a size is inside an archived segment, where the root of the tree is unknown.
    private func isArchived(_ size: Int, _ roots: [[UInt8]]) throws(AuditStoreError) -> Bool {
        let begin = size / AuditSegment.size * AuditSegment.size
        guard begin < size, begin / AuditSegment.size < roots.count else { return false }
        var isArchived = true
        try transaction.entries(in: begin..<size) { _ throws(AuditStoreError) in
            isArchived = false
            return false
        }
        return isArchived
    }

    private func older(than known: Int, size: Int) -> AuditStoreError {
        .replaced(
            "It holds \(size) entries, but a checkpoint was issued for \(known): it was truncated, or an older copy "
                + "replaced it. Restore the right one.")
    }

    private func tree(of size: Int, _ roots: [[UInt8]]) throws(AuditStoreError) -> LogTree {
        let closed = size / AuditSegment.size
        guard roots.count >= closed else { throw .damaged("The root of the segment \(roots.count) is missing.") }
        var tree = LogTree()
        for bytes in roots.prefix(closed) {
            guard let root = MerkleHash(bytes: bytes) else { throw .damaged("The root of a segment is not a hash.") }
            tree.append(segment: root)
        }
        var rest = tree
        try transaction.entries(in: tree.size..<size) { entry throws(AuditStoreError) in
            _ = rest.append(MerkleHash.leaf(entry.body))
            return true
        }
        guard rest.size == size else {
            throw .damaged("It should hold \(size) entries, but the entry \(rest.size) is missing.")
        }
        return rest
    }
}
