public import AuditKit
public import TransparencyLog

/// Where the admin listener reads the audit log.
public protocol AuditReading: Sendable {
    /// A reader for one request. Blocks.
    func reader() throws(AuditStoreError) -> any AuditReader

    /// The log's public key, and the co-signer's where it is known. Blocks.
    func verifiers() throws(AuditStoreError) -> [NoteVerifier]

    /// Checkpoints that were kept elsewhere, to verify the log against, and pieces among them that cannot be read as checkpoints.
    /// Blocks.
    func externals() throws(AuditStoreError) -> (checkpoints: ExternalCheckpoints, damaged: Int)
}
