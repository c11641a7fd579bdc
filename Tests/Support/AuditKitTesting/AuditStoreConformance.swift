package import AuditKit
import Testing

/// The contract of every audit store, independent of where it keeps entries. A store's tests give each check an empty
/// log:
///
/// ```swift
/// @Test(arguments: AuditStoreConformance.checks)
/// func keepsTheContract(_ check: AuditStoreConformance.Check) throws {
///     let log = try TestLog()
///     try check.run(AuditStoreConformance(SQLiteAuditStore.self, location: log.location, identity: TestLog.identity))
/// }
/// ```
package struct AuditStoreConformance {
    /// One check, named by a sentence.
    package struct Check: Sendable, CustomTestStringConvertible {
        package let testDescription: String
        package let run: @Sendable (AuditStoreConformance) throws -> Void

        init(_ sentence: String, _ run: @escaping @Sendable (AuditStoreConformance) throws -> Void) {
            (testDescription, self.run) = (sentence, run)
        }
    }

    private let type: any AuditStore.Type
    /// Of an empty log.
    private let location: AuditLocation
    private let identity: AuditIdentity

    package init(_ type: any AuditStore.Type, location: AuditLocation, identity: AuditIdentity) {
        (self.type, self.location, self.identity) = (type, location, identity)
    }

    package static let checks: [Check] = writing + reading + searching

    func open(as role: AuditRole = .gateway) throws -> any AuditStore {
        try type.open(at: location, as: role, timeout: .milliseconds(200))
    }

    func read() throws -> any AuditReader { try type.read(at: location) }
}

// MARK: Writing

extension AuditStoreConformance {
    private static let writing = [
        Check("Written entries, heads and checkpoints are read back") { try $0.readsBack() },
        Check("A log exists at its location and cannot be created again") { try $0.exists() },
        Check("A failed transaction leaves nothing behind, and the store stays usable") { try $0.rollsBack() },
        Check("A transaction sees its own writes") { try $0.seesItsOwnWrites() },
        Check("The store accepts only the next entry number") { try $0.refusesOtherNumbers() },
        Check("A finished transaction refuses further calls") { try $0.endsTransactions() },
        Check("A gateway and a command see each other's entries") { try $0.sharesTheLog() },
        Check("A closed store and a closed reader refuse further calls") { try $0.staysClosed() },
        Check("drop removes closed segments in order and nothing else") { try $0.drops() },
        Check("A register replaces its predecessor in the transaction of its entry or not at all") {
            try $0.replacesRegisters()
        },
        Check("Maintenance runs beside a writer") { try $0.maintains() },
        Check("Many entries in one transaction are read back") { try $0.writesMany() },
    ]

    private func readsBack() throws {
        let store = try open()
        #expect(store.identity == identity)
        try store.append("a", "b")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.append(StoredEntry(index: 2, body: [], mark: .max))
            try transaction.setHead(SignedTreeHead(size: 3, note: "three"))
            try transaction.keep(SignedTreeHead(size: 3, note: "kept"))
            try transaction.keep(SignedTreeHead(size: 3, note: "kept again"))
        }
        let reader = try read()
        #expect(reader.identity == identity)
        #expect(try reader.head() == SignedTreeHead(size: 3, note: "three"))
        #expect(try reader.checkpoints() == [SignedTreeHead(size: 3, note: "kept again")])
        #expect(try reader.bodies() == ["a", "b", ""])
        #expect(try reader.bodies(1..<2) == ["b"])
        #expect(try reader.entry(at: 2)?.mark == .max)
        #expect(try reader.entry(at: 3) == nil)
        #expect(try reader.storedEnd() == 3)
    }

    private func exists() throws {
        #expect(try type.exists(at: location))
        expect(.unfit) { () throws(AuditStoreError) in try type.create(at: location, identity: identity) }
    }

    private func rollsBack() throws {
        let store = try open()
        try store.append("a")
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.append(StoredEntry(index: 1, body: [2], mark: 0))
                try transaction.setHead(SignedTreeHead(size: 2, note: "no"))
                throw .failed("It was not to be.")
            }
        }
        try store.append("b")
        #expect(try read().bodies() == ["a", "b"])
        #expect(try read().head()?.size == 2)
    }

    private func seesItsOwnWrites() throws {
        let store = try open()
        try store.append("a")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.append(StoredEntry(index: 1, body: [98], mark: 0))
            try transaction.setHead(SignedTreeHead(size: 2, note: "two"))
            #expect(try transaction.head()?.size == 2)
            #expect(try transaction.entry(at: 1)?.body == [98])
            try transaction.register(AuditRegister(name: "r", value: [7], entry: 1))
            #expect(try transaction.registers().map(\.value) == [[7]])
        }
    }

    private func refusesOtherNumbers() throws {
        let store = try open()
        try store.append("a")
        for index in [0, 2, -1] {
            expect(.failed) { () throws(AuditStoreError) in
                try store.write { (transaction) throws(AuditStoreError) in
                    try transaction.append(StoredEntry(index: index, body: [], mark: 0))
                }
            }
        }
        #expect(try read().storedEnd() == 1)
    }

    private func endsTransactions() throws {
        let store = try open()
        let escaped = try store.write { $0 }
        expect(.closed) { () throws(AuditStoreError) in try escaped.head() }
        expect(.closed) { () throws(AuditStoreError) in try escaped.setHead(SignedTreeHead(size: 9, note: "")) }
        expect(.closed) { () throws(AuditStoreError) in
            try escaped.append(StoredEntry(index: 0, body: [], mark: 0))
        }
    }

    private func sharesTheLog() throws {
        let gateway = try open()
        let command = try open(as: .command)
        try gateway.append("a")
        #expect(try command.append("b") == 2)
        #expect(try gateway.append("c") == 3)
        #expect(try read().bodies() == ["a", "b", "c"])
    }

    private func staysClosed() throws {
        let store = try open()
        try store.append("a")
        store.close()
        store.close()
        expect(.closed) { () throws(AuditStoreError) in try store.append("b") }
        expect(.closed) { () throws(AuditStoreError) in try store.maintain() }
        expect(.closed) { () throws(AuditStoreError) in try store.index() }
        let reader = try read()
        reader.close()
        expect(.closed) { () throws(AuditStoreError) in try reader.head() }
    }

    private func drops() throws {
        let store = try open()
        try store.append([[UInt8]](repeating: [1], count: 2 * AuditSegment.size + 3))
        try store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 1) }
        for segment in [0, 3] {
            expect(.failed) { () throws(AuditStoreError) in
                try store.write { (transaction) throws(AuditStoreError) in
                    try transaction.drop(segmentsBefore: segment)
                }
            }
        }
        let reader = try read()
        #expect(try reader.firstIndex() == AuditSegment.size)
        #expect(try reader.bodies().count == AuditSegment.size + 3)
        #expect(try reader.segmentRoots() == [TestRoot.of(0), TestRoot.of(1)])
        try store.write { (transaction) throws(AuditStoreError) in try transaction.drop(segmentsBefore: 2) }
        #expect(try reader.bodies().count == 3)
        #expect(try reader.inspect() == [])
    }

    private func replacesRegisters() throws {
        let store = try open()
        try store.append("a", "b")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.register(AuditRegister(name: "key/B", value: [2], entry: 0))
            try transaction.register(AuditRegister(name: "key/A", value: [1], entry: 0))
        }
        #expect(throws: AuditStoreError.self) {
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.register(AuditRegister(name: "key/A", value: [9], entry: 1))
                throw AuditStoreError.failed("Something else went wrong.")
            }
        }
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.register(AuditRegister(name: "key/B", value: [3], entry: 1))
        }
        expect(.failed) { () throws(AuditStoreError) in
            try store.write { (transaction) throws(AuditStoreError) in
                try transaction.register(AuditRegister(name: "key/B", value: [2], entry: 0))
            }
        }
        let expected = [
            AuditRegister(name: "key/A", value: [1], entry: 0), AuditRegister(name: "key/B", value: [3], entry: 1),
        ]
        #expect(try read().registers() == expected)
    }

    private func maintains() throws {
        let store = try open()
        for round in 0..<5 {
            try store.append("\(round)")
            try store.maintain()
            try store.index()
        }
        #expect(try read().bodies().count == 5)
    }

    private func writesMany() throws {
        let store = try open()
        try store.append((0..<3000).map { Array("\($0)".utf8) })
        let reader = try read()
        #expect(try reader.bodies() == (0..<3000).map(String.init))
        var seen = 0
        try reader.entries(in: 0..<3000) { _ in
            seen += 1
            return seen < 5
        }
        #expect(seen == 5)
    }
}

// MARK: Reading

extension AuditStoreConformance {
    private static let reading = [
        Check("A reader sees the new entries of a live log") { try $0.readsLive() },
        Check("The store's own check finds no fault in a new log and in a used one") { try $0.inspects() },
    ]

    private func readsLive() throws {
        let store = try open()
        let reader = try read()
        #expect(try reader.head() == nil)
        #expect(try reader.storedEnd() == 0)
        try store.append("a")
        #expect(try reader.bodies() == ["a"])
        try store.append("b")
        #expect(try reader.bodies() == ["a", "b"])
        #expect(try reader.head()?.size == 2)
    }

    private func inspects() throws {
        #expect(try read().inspect() == [])
        let store = try open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size + 1))
        try store.index()
        #expect(try read().inspect() == [])
    }
}
