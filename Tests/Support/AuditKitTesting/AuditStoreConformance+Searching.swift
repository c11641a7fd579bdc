import AuditKit
import Testing

extension AuditStoreConformance {
    static let searching = [
        Check("A search finds the same entries as a full scan, with and without an index") { try $0.searches() },
        Check("Counts match the entries, with and without an index") { try $0.counts() },
        Check("A search reports how many entries and matches came from the index") { try $0.reportsCoverage() },
        Check("A stopped search says so and counts the entries up to the stop") { try $0.reportsStops() },
        Check("Dropped segments leave the index") { try $0.searchesAfterDrop() },
    ]

    /// A log of random entries in two closed segments and a part of a third.
    private func sample() throws -> SearchSample {
        var entries = RandomEntries(seed: 4)
        let bodies = entries.bodies(2 * AuditSegment.size + 200)
        let store = try open()
        try store.append(bodies)
        return SearchSample(store: store, bodies: bodies, entries: entries)
    }

    private func found(_ query: AuditQuery) throws -> [Int] {
        var found: [Int] = []
        try read().search(query) { entry in
            found.append(entry.index)
            return true
        }
        return found
    }

    private func searches() throws {
        var sample = try sample()
        for round in 0..<2 {
            for _ in 0..<12 {
                let query = sample.entries.query()
                #expect(try found(query) == sample.expected(query), "\(query)")
            }
            if round == 0 { try sample.store.index() }
        }
    }

    private func counts() throws {
        var sample = try sample()
        for round in 0..<2 {
            for _ in 0..<8 {
                let query = sample.entries.query()
                #expect(try read().tallies(query).tallies == sample.expectedTallies(query), "\(query)")
            }
            if round == 0 { try sample.store.index() }
        }
        let coverage = try read().tallies(AuditQuery()).coverage
        #expect(coverage.byIndex == 2 * AuditSegment.size && coverage.byReading == 200)
        #expect(coverage.countSentence?.contains("answered for 8192 of 8392 entries") == true)
    }

    private func reportsCoverage() throws {
        let sample = try sample()
        var query = AuditQuery()
        query.terms[.user] = "user-7"
        let hits = sample.expected(query)
        let unindexed = try read().search(query) { _ in true }
        #expect(unindexed.byIndex == 0 && unindexed.byReading == sample.bodies.count)
        #expect(unindexed.foundByIndex == 0 && unindexed.found == hits.count)
        #expect(unindexed.sentence == nil)
        try sample.store.index()
        let indexed = try read().search(query) { _ in true }
        #expect(indexed.byIndex == 2 * AuditSegment.size && indexed.byReading == 200)
        #expect(indexed.foundByIndex == hits.count { $0 < 2 * AuditSegment.size })
        #expect(indexed.found == hits.count)
        #expect(indexed.sentence?.contains("answered for 8192 of 8392 entries") == true)
        query.usesIndex = false
        #expect(try read().search(query) { _ in true }.byIndex == 0)
    }

    private func reportsStops() throws {
        let sample = try sample()
        try sample.store.index()
        for isLatestFirst in [true, false] {
            var query = AuditQuery()
            query.terms[.user] = "user-7"
            query.indexes = 0..<2 * AuditSegment.size
            query.isLatestFirst = isLatestFirst
            var seen: [Int] = []
            let coverage = try read().search(query) { entry in
                seen.append(entry.index)
                return seen.count < 3
            }
            let last = try #require(seen.last)
            #expect(seen.count == 3 && sample.expected(query).count > 3)
            #expect(coverage.byIndex == (isLatestFirst ? 2 * AuditSegment.size - last : last + 1))
            #expect(
                coverage.sentence?.contains("it named 3 of the 3 that were found until the search stopped.") == true)
        }
    }

    private func searchesAfterDrop() throws {
        var sample = try sample()
        try sample.store.index()
        try sample.store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 1) }
        for round in 0..<2 {
            for _ in 0..<4 {
                let query = sample.entries.query()
                #expect(try found(query) == sample.expected(query, from: AuditSegment.size), "\(query)")
            }
            if round == 0 { try sample.store.index() }
        }
    }
}

/// Random entries, and the results that searches in them must have.
private struct SearchSample {
    let store: any AuditStore
    let bodies: [[UInt8]]
    var entries: RandomEntries
    private let fields: [EntryFields?]

    init(store: any AuditStore, bodies: [[UInt8]], entries: RandomEntries) {
        (self.store, self.bodies, self.entries) = (store, bodies, entries)
        fields = bodies.map { EntryFields($0) }
    }

    func expected(_ query: AuditQuery, from first: Int = 0) -> [Int] {
        let hits = bodies.indices.filter { $0 >= first && fields[$0]?.match(query) ?? query.isForEverything }
        return query.isLatestFirst ? hits.reversed() : hits
    }

    func expectedTallies(_ query: AuditQuery) -> [TallyKey: Int] {
        var counts: [TallyKey: Int] = [:]
        let terms = query.terms.filter { TallyKey.fields.contains($0.key) }
        for index in expected(query) {
            guard let fields = fields[index] else { continue }
            for (key, count) in TallyKey.counts(of: fields) where key.has(terms) { counts[key, default: 0] += count }
        }
        return counts
    }
}
