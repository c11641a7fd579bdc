public import AuditKit
public import TransparencyLog

/// Gives the admin listener access to the audit log.
public protocol AuditReading: Sendable {
    /// Opens a reader for one request. Blocks.
    func reader() throws(AuditStoreError) -> any AuditReader

    /// The log's public key, and the cosigner's if it is known. Blocks.
    func verifiers() throws(AuditStoreError) -> [NoteVerifier]

    /// The checkpoints kept outside the log, and the number of unreadable parts among them. Blocks.
    func externals() throws(AuditStoreError) -> (checkpoints: ExternalCheckpoints, damaged: Int)
}
