import AuditKit

/// A log in memory, to be spoiled at will.
final class MemoryAuditReader: AuditReader {
    var identity: AuditIdentity
    var storedHead: AuditHead?
    var stored: [StoredEntry] = []
    var roots: [[UInt8]] = []
    var kept: [AuditHead] = []
    var registered: [AuditRegister] = []
    var first = 0
    var remarks: [String] = []
    /// Reading one of these fails.
    var damage: Set<Int> = []

    /// Done before each answer, as by a writer at work.
    var meanwhile: () -> Void = {}

    init(origin: String) {
        identity = AuditIdentity(origin: origin)
    }

    func head() throws(AuditStoreError) -> AuditHead? {
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

    func checkpoints() throws(AuditStoreError) -> [AuditHead] {
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
        // They are in order, so that the beginning is found by halves.
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
    ) throws(AuditStoreError) -> (tallies: [AuditTally], coverage: SearchCoverage) { ([], SearchCoverage()) }
}
