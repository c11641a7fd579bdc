import AuditKit

/// A log in memory that tests can damage.
final class MemoryAuditReader: AuditReader {
    var identity: AuditIdentity
    var storedHead: SignedTreeHead?
    var stored: [StoredEntry] = []
    var roots: [[UInt8]] = []
    var kept: [SignedTreeHead] = []
    var registered: [AuditRegister] = []
    var first = 0
    var remarks: [String] = []
    /// The indexes of entries that cannot be read.
    var damage: Set<Int> = []

    /// Runs before each answer, to simulate a concurrent writer.
    var meanwhile: () -> Void = {}

    init(origin: String) {
        identity = AuditIdentity(origin: origin)
    }

    func head() throws(AuditStoreError) -> SignedTreeHead? {
        meanwhile()
        return storedHead
    }

    func firstIndex() throws(AuditStoreError) -> Int {
        meanwhile()
        return first
    }

    func storedEnd() throws(AuditStoreError) -> Int {
        meanwhile()
        return stored.last.map { $0.index + 1 } ?? first
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] {
        meanwhile()
        return roots
    }

    func checkpoints() throws(AuditStoreError) -> [SignedTreeHead] {
        meanwhile()
        return kept
    }

    func registers() throws(AuditStoreError) -> [AuditRegister] {
        meanwhile()
        return registered
    }

    func inspect() throws(AuditStoreError) -> [String] {
        meanwhile()
        return remarks
    }

    func close() {}

    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        meanwhile()
        // The entries are sorted by index: a binary search finds the first.
        var (low, high) = (0, stored.count)
        while low < high {
            let middle = (low + high) / 2
            if stored[middle].index < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        for entry in stored[low...] {
            guard entry.index < range.upperBound else { return }
            if damage.contains(entry.index) { throw .damaged("A page is damaged.") }
            guard try visit(entry) else { return }
        }
    }

    func search(
        _ query: AuditQuery, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) -> SearchCoverage {
        for entry in query.isLatestFirst ? stored.reversed() : stored {
            guard let fields = EntryFields(entry.body), fields.match(query) else { continue }
            guard try visit(entry) else { break }
        }
        return SearchCoverage()
    }

    func tallies(
        _ query: AuditQuery
    ) throws(AuditStoreError) -> (tallies: [TallyKey: Int], coverage: SearchCoverage) { ([:], SearchCoverage()) }
}
