import AuditKit
import TransparencyLog

/// Makes checkpoints, and knows its own.
struct AuditSigner: Sendable {
    private let signer: NoteSigner

    init(_ signer: NoteSigner) {
        self.signer = signer
    }

    /// The head of a log with this tree.
    ///
    /// - Parameter seal: of its registers.
    func head(of tree: LogTree, origin: String, seal: String) throws(AuditStoreError) -> AuditHead {
        do throws(NoteError) {
            let checkpoint = try Checkpoint(origin: origin, size: tree.size, root: tree.root, extensions: [seal])
            return AuditHead(size: tree.size, note: try signer.sign(checkpoint.text).description)
        } catch {
            throw .failed("The checkpoint could not be signed. \(error)")
        }
    }

    /// What a head says, if this log's key signed it.
    func checkpoint(in head: AuditHead) throws(AuditStoreError) -> Checkpoint {
        do throws(NoteError) {
            return try Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: [signer.verifier])
        } catch {
            throw .damaged("A checkpoint over \(head.size) entries is not one that the log's key signed. \(error)")
        }
    }
}
