import AuditKit
import TransparencyLog

/// Signs checkpoints with the key of the log, and verifies such signatures.
struct AuditSigner: Sendable {
    private let signer: NoteSigner

    init(_ signer: NoteSigner) {
        self.signer = signer
    }

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
