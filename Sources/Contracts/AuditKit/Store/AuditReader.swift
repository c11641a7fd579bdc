/// Reads a log, even while another process appends to it. Calls block as in `AuditStore`. For one thread at a time.
public protocol AuditReader: AnyObject {
    var identity: AuditIdentity { get }

    /// The latest signed tree head; nil for a log without entries.
    func head() throws(AuditStoreError) -> SignedTreeHead?

    /// The first index in the store; earlier entries are archived.
    func firstIndex() throws(AuditStoreError) -> Int

    /// Visits entries in order and skips missing ones.
    ///
    /// - Parameter visit: returns whether to continue.
    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError)

    /// The index after the last stored entry, regardless of the head.
    func storedEnd() throws(AuditStoreError) -> Int

    /// The roots by segment, archived segments included.
    func segmentRoots() throws(AuditStoreError) -> [[UInt8]]

    /// The kept checkpoints, sorted by size.
    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead]

    /// The registers, sorted by name.
    func registers() throws(AuditStoreError) -> [AuditRegister]

    /// Visits matching entries; the latest first if the query says so.
    ///
    /// - Parameter visit: returns whether to continue.
    /// - Returns: what the search read, and what was missing.
    @discardableResult
    func search(
        _ query: AuditQuery, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> SearchCoverage

    /// - Returns: counts of signatures and refusals, and what was read. Segments counted by the index are not read
    ///   again.
    func tallies(
        _ query: AuditQuery
    ) throws(AuditStoreError) -> (tallies: [AuditTally], coverage: SearchCoverage)

    /// Faults of the store itself, such as damaged pages or modified bookkeeping, but not of entries.
    func inspect() throws(AuditStoreError) -> [String]

    func close()
}
