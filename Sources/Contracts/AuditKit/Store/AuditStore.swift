public import Crypto
import Encodings
public import TransparencyLog

/// Durable storage for an audit log, in order. It knows nothing of offers, and of Merkle trees only the parts that it
/// stores. Every call blocks, perhaps for as long as the disk does. Never call it on an event loop or in the
/// cooperative pool.
public protocol AuditStore: AnyObject, Sendable {
    /// The first part of the locations of such a store, such as `sqlite`; the usual one first.
    static var schemes: [String] { get }

    static func exists(at location: AuditLocation) throws(AuditStoreError) -> Bool

    /// Opens all logs at a location for reading, sorted by name. Call the readers on one thread.
    static func readAll(at location: AuditLocation) throws(AuditStoreError) -> [any AuditReader]

    /// Whether the log is on a disk of this machine.
    static func isOnThisMachine(_ location: AuditLocation) -> Bool

    /// Creates an empty log if the location has none.
    ///
    /// - Parameter identity: stored in the log, and never changed.
    static func create(at location: AuditLocation, identity: AuditIdentity) throws(AuditStoreError)

    /// Opens a log for appending.
    ///
    /// - Parameters:
    ///   - role: a gateway takes over the log if the store can tell its writers apart.
    ///   - timeout: how long to wait for another writer.
    static func open(at location: AuditLocation, as role: AuditRole, timeout: Duration) throws(AuditStoreError) -> Self

    /// Opens a log, or a copy of one, for reading. It changes nothing in the log.
    static func read(at location: AuditLocation) throws(AuditStoreError) -> any AuditReader

    var identity: AuditIdentity { get }

    /// Runs `body` as one transaction: all its writes become durable, or none. Returns when they are durable, at the
    /// location as it is now. Transactions are serialised, across processes too: `body` sees the state to which it
    /// appends.
    func write<Result>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Result
    ) throws(AuditStoreError) -> Result

    /// Maintenance that no request should wait for, such as copying the write-ahead log into the database. A
    /// maintenance thread calls it several times a second, concurrently with `write`.
    func maintain() throws(AuditStoreError)

    /// Updates the search index. A low-priority maintenance thread calls it at intervals. A search also finds entries
    /// that are not indexed yet, but more slowly.
    func index() throws(AuditStoreError)

    /// What the gateways of a fleet share beside their logs. Only for a log that a gateway has opened.
    ///
    /// - Parameter fleet: the origin of the fleet's log, in the same database.
    /// - Throws: `.unfit` if the store is for one gateway.
    func membership(in fleet: String) throws(AuditStoreError) -> any FleetMembership

    /// Free bytes on the log's file system; nil if unknown.
    var freeBytes: Int? { get }

    /// Releases all resources. Every later call fails.
    func close()
}

extension AuditStore {
    public func membership(in fleet: String) throws(AuditStoreError) -> any FleetMembership {
        throw .unfit("A fleet needs its logs in one PostgreSQL database.")
    }
}

/// What a reader and a transaction can read.
public protocol AuditContent: AnyObject {
    /// The latest signed tree head, even if another process wrote it; nil for a log without entries.
    func head() throws(AuditStoreError) -> SignedTreeHead?

    /// Visits entries in order and skips missing ones.
    func entries(in range: Range<Int>, _ visit: EntryVisitor) throws(AuditStoreError)

    /// The roots of the closed segments, from the first, archived segments included.
    func segmentRoots() throws(AuditStoreError) -> [[UInt8]]

    /// The registers, sorted by name.
    func registers() throws(AuditStoreError) -> [AuditRegister]
}

extension AuditContent {
    /// Nil for an entry that is missing.
    public func entry(at index: Int) throws(AuditStoreError) -> StoredEntry? {
        guard (0..<Int.max).contains(index) else { return nil }
        var found: StoredEntry?
        try entries(in: index..<index + 1) { entry in
            found = entry
            return false
        }
        return found
    }
}

/// The operations within one transaction.
public protocol AuditTransaction: AuditContent {
    func append(_ entry: StoredEntry) throws(AuditStoreError)
    /// - Parameter root: 32 bytes, the root of the perfect subtree over the segment's entries.
    func close(segment: Int, root: [UInt8]) throws(AuditStoreError)
    func setHead(_ head: SignedTreeHead) throws(AuditStoreError)
    /// Keeps a checkpoint. It replaces a kept one of the same size, unless that is longer: it has more signatures then.
    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError)
    /// Replaces the register of this name.
    func register(_ register: AuditRegister) throws(AuditStoreError)
    /// Removes the entries of all closed segments before `segment`.
    func drop(segmentsBefore segment: Int) throws(AuditStoreError)
}

public struct AuditIdentity: Hashable, Sendable {
    /// The first line of every checkpoint, such as `privyseal.example.com/gateway-1` (C2SP tlog-checkpoint).
    public let origin: String
    /// The format version of the store's content.
    public let formatVersion: Int

    public static let currentFormat = 1

    public init(origin: String, formatVersion: Int = currentFormat) {
        self.origin = origin
        self.formatVersion = formatVersion
    }
}

/// Returns whether to continue.
public typealias EntryVisitor = (StoredEntry) throws(AuditStoreError) -> Bool

/// An entry and its index in the log.
public struct StoredEntry: Sendable {
    public let index: Int
    /// Canonical JSON, the input of the leaf hash.
    public let body: [UInt8]
    /// See `mark(of:at:)`. It shows which entry changed. The tree alone shows only that one did.
    public let mark: UInt64

    public init(index: Int, body: [UInt8], mark: UInt64) {
        self.index = index
        self.body = body
        self.mark = mark
    }

    /// The first eight bytes of the leaf hash as a big-endian number, XOR the index. A changed entry does not fit its
    /// mark, nor does an entry moved together with its mark.
    public static func mark(of leaf: MerkleHash, at index: Int) -> UInt64 { leaf.prefix ^ UInt64(index) }
}

/// Segments of entries are the unit of indexing and archiving.
public enum AuditSegment {
    /// 2¹², so that a segment is a perfect subtree (RFC 6962 §2.1).
    public static let size = 4096
    /// The height of that subtree.
    public static let height = 12

    public static func entries(of segment: Int) -> Range<Int> { segment * size..<(segment + 1) * size }
}

/// The size of a log and its signed checkpoint.
public struct SignedTreeHead: Hashable, Sendable {
    /// The number of entries.
    public let size: Int
    /// The checkpoint as a signed note: text, empty line, signatures (C2SP signed-note, tlog-checkpoint).
    public let note: String

    public init(size: Int, note: String) {
        self.size = size
        self.note = note
    }
}

/// A value that the log holds beside its entries, replaced as a whole. The entry of each change holds its digest.
public struct AuditRegister: Hashable, Sendable {
    public let name: String
    public let value: [UInt8]
    /// The index of the entry that recorded this value.
    public let entry: Int

    public init(name: String, value: [UInt8], entry: Int) {
        self.name = name
        self.value = value
        self.entry = entry
    }

    /// The digest that entries hold.
    public static func digest(of value: [UInt8]) -> SHA256Digest { SHA256.hash(data: value) }
}

/// Binds all registers to the signed tree head, as one line of it. Without the log's key, a register cannot be changed,
/// restored, added or removed, even if the entries that record it are archived.
public enum RegistersLine {
    private static let prefix = "registers "

    /// The line is `registers`, a space, and the Base64 of a SHA-256. The hash covers all registers, sorted by the
    /// bytes of their names. Each contributes its name's length, its name, its entry's index and the SHA-256 of its
    /// value. Numbers are 8 bytes, big-endian.
    public static func line(over registers: some Sequence<AuditRegister>) -> String {
        var hash = SHA256()
        for register in registers.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            let name = Array(register.name.utf8)
            hash.update(data: bytes(of: name.count) + name + bytes(of: register.entry))
            hash.update(data: Array(AuditRegister.digest(of: register.value)))
        }
        return prefix + Base64.standard.text(Array(hash.finalize()))
    }

    /// The `registers` line of a checkpoint. Nil if an older version signed it (ADR 41).
    public static func line(in checkpoint: Checkpoint) -> String? {
        checkpoint.extensions.first { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian) { Array($0) }
    }
}

/// Reads a log, even while another process appends to it. Calls block as in `AuditStore`. For one thread at a time.
public protocol AuditReader: AuditContent {
    var identity: AuditIdentity { get }

    /// The first index in the store; earlier entries are archived.
    func firstIndex() throws(AuditStoreError) -> Int

    /// The index after the last stored entry, regardless of the head.
    func storedEnd() throws(AuditStoreError) -> Int

    /// The kept checkpoints, sorted by size.
    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead]

    /// Visits matching entries; the latest first if the query says so.
    ///
    /// - Returns: what the search read, and what was missing.
    @discardableResult
    func search(_ query: AuditQuery, _ visit: EntryVisitor) throws(AuditStoreError) -> SearchCoverage

    /// - Returns: counts of signatures and refusals by hour, and what was read. Segments counted by the index are not
    ///   read again.
    func tallies(_ query: AuditQuery) throws(AuditStoreError) -> (tallies: [TallyKey: Int], coverage: SearchCoverage)

    /// Why this log cannot be moved to another store alone: the rest of a sentence about it. Nil if it can.
    func obstacleToMoving() throws(AuditStoreError) -> String?

    /// Faults of the store itself, such as damaged pages or modified bookkeeping, but not of entries.
    func inspect() throws(AuditStoreError) -> [String]

    func close()
}

extension AuditReader {
    /// A store without fleets.
    public func obstacleToMoving() -> String? { nil }
}

/// Why a store call failed. The text is a sentence.
public enum AuditStoreError: Error, Hashable, Sendable {
    /// The location is empty.
    case missing(String)
    case full(String)
    case readOnly(String)
    /// Another writer held the lock for too long.
    case busy(String)
    /// The location no longer holds the log that was opened: it is empty, or holds another or an older log.
    case replaced(String)
    /// Another gateway has taken over the log. This process must not write to it again.
    case fenced(String)
    /// The stored data cannot be what was written.
    case damaged(String)
    /// The store cannot use the location, or the location holds something other than such a log.
    case unfit(String)
    /// Another error of the disk or the operating system.
    case failed(String)
    case closed
}

extension AuditStoreError {
    /// The sentences of all checks of a store. Damage that stops a check is a fault, too.
    package static func faults(
        _ checks: [() throws(AuditStoreError) -> [String]]
    ) throws(AuditStoreError) -> [String] {
        var sentences: [String] = []
        for check in checks {
            do throws(AuditStoreError) {
                sentences += try check()
            } catch .damaged(let sentence) {
                sentences.append(sentence)
            }
        }
        return sentences
    }

    /// Whether another attempt may succeed without a person.
    public var mayPass: Bool {
        switch self {
        case .full, .readOnly, .busy, .failed: true
        case .missing, .replaced, .fenced, .damaged, .unfit, .closed: false
        }
    }
}

extension AuditStoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let sentence), .full(let sentence), .readOnly(let sentence), .busy(let sentence),
            .replaced(let sentence), .fenced(let sentence), .damaged(let sentence), .unfit(let sentence),
            .failed(let sentence):
            sentence
        case .closed: "The audit log has been closed."
        }
    }
}
