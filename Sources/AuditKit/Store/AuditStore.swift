/// A place where an audit log is kept, durably and in order. It knows nothing of offers, and only as much of trees as it has
/// to keep for them.
///
/// Every call blocks, and may take as long as the disk does: never on an event loop or in the cooperative pool.
public protocol AuditStore: AnyObject, Sendable {
    /// What begins the location of such a store, such as `sqlite`.
    static var scheme: String { get }

    /// Whether there is a log at the location.
    static func exists(at location: String) throws(AuditStoreError) -> Bool

    /// Makes an empty log where there is none.
    ///
    /// - Parameter identity: kept with the log for good.
    static func create(at location: String, identity: AuditIdentity) throws(AuditStoreError)

    /// Opens a log to append to it.
    ///
    /// - Parameter patience: how long another writer may keep this one waiting.
    static func open(at location: String, patience: Duration) throws(AuditStoreError) -> Self

    /// Opens a log, or a copy of one, to read it; it writes nothing, not even beside it.
    static func read(at location: String) throws(AuditStoreError) -> any AuditReader

    var identity: AuditIdentity { get }

    /// Everything that `body` writes becomes durable at once, or nothing does. It returns when it is durable: on the
    /// disk, and in the file that is at the location now.
    ///
    /// One at a time, also with other processes: what `body` sees is what it appends to.
    func write<Result>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Result
    ) throws(AuditStoreError) -> Result

    /// Work that keeps the store small and that no answer should wait for, such as copying what was written to its final
    /// place. Called several times a second on a thread of its own, beside `write`.
    func maintain() throws(AuditStoreError)

    /// Makes what was written quick to search. Called now and then on a thread of its own that yields to all others; what is
    /// not indexed yet is found all the same, only later.
    func index() throws(AuditStoreError)

    /// Bytes that are free where the log is kept; nil where nobody can say.
    var freeBytes: Int? { get }

    /// Gives everything back. Every later call fails.
    func close()
}

/// What can be written in one go.
public protocol AuditTransaction: AnyObject {
    /// As it is in the store now, also when another process wrote last; nil for a log without entries.
    func head() throws(AuditStoreError) -> AuditHead?
    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError)
    /// The roots of the closed segments, from the first.
    func segmentRoots() throws(AuditStoreError) -> [[UInt8]]

    func append(_ entry: StoredEntry) throws(AuditStoreError)
    /// - Parameter root: 32 bytes, of the perfect subtree over the segment's entries.
    func close(segment: Int, root: [UInt8]) throws(AuditStoreError)
    func setHead(_ head: AuditHead) throws(AuditStoreError)
    /// A checkpoint to keep. One of the same size takes its place.
    func keep(_ checkpoint: AuditHead) throws(AuditStoreError)
    /// Replaces what is registered under the name.
    func register(_ register: AuditRegister) throws(AuditStoreError)
    /// By name.
    func registers() throws(AuditStoreError) -> [AuditRegister]
    /// Takes the entries of closed segments out, from the first that is left up to `segment`, which stays.
    func drop(segmentsBefore segment: Int) throws(AuditStoreError)
}
