/// Reads a log, also while another process appends to it. Blocks as `AuditStore` does; used by one thread at a time.
public protocol AuditReader: AnyObject {
    var identity: AuditIdentity { get }

    /// Nil for a log without entries.
    func head() throws(AuditStoreError) -> AuditHead?

    /// The first entry that is still in the store; those before have been archived.
    func firstIndex() throws(AuditStoreError) -> Int

    /// In order. Entries that are missing are left out.
    ///
    /// - Parameter visit: returns whether to go on.
    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError)

    /// One past the last entry that is stored, whatever the head says.
    func storedEnd() throws(AuditStoreError) -> Int

    /// By segment; those of archived segments too.
    func segmentRoots() throws(AuditStoreError) -> [[UInt8]]

    /// Those kept, by size.
    func checkpoints() throws(AuditStoreError) -> [AuditHead]

    /// By name.
    func registers() throws(AuditStoreError) -> [AuditRegister]

    /// The entries that match, the latest first when the query says so.
    ///
    /// - Parameter visit: returns whether to go on.
    /// - Returns: what was read, and what was missing.
    @discardableResult
    func search(
        _ query: AuditQuery, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> SearchCoverage

    /// Counts of signatures and refusals.
    ///
    /// - Returns: with what was read for it, and what was missing. What the index has counted is not read again.
    func tallies(
        _ query: AuditQuery
    ) throws(AuditStoreError) -> (tallies: [AuditTally], coverage: SearchCoverage)

    /// What is wrong with the store itself, beyond its entries: damaged pages, bookkeeping that somebody changed. Empty when
    /// nothing is.
    func inspect() throws(AuditStoreError) -> [String]

    func close()
}
