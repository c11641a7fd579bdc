import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import Synchronization
import Testing

@testable import SQLiteAuditStore

@Suite("Durability", .serialized)
struct DurabilityTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    /// The settings of the connection that writes: journal_mode, synchronous, wal_autocheckpoint.
    private func settings(of store: SQLiteAuditStore) throws -> [String?] {
        var settings: [String?] = []
        try store.withWriter { (writer) throws(AuditStoreError) in
            for name in ["journal_mode", "synchronous", "wal_autocheckpoint"] {
                settings.append(try writer.tables.pragma(name))
            }
        }
        return settings
    }

    @Test("The writer synchronizes at every commit and checkpoints at none")
    func pragmas() throws {
        let store = try log.open()
        #expect(try settings(of: store) == ["wal", "2", "0"])
        try store.append("a")
        #expect(try settings(of: store) == ["wal", "2", "0"])
    }

    @Test("open restores WAL mode")
    func journalMode() throws {
        try log.tamper("PRAGMA journal_mode = DELETE")
        let store = try log.open()
        #expect(try settings(of: store) == ["wal", "2", "0"])
    }

    @Test("A replacement of the writer's connection is as durable")
    func reopened() throws {
        let store = try log.open()
        try store.append("a")
        try log.remove("audit.db-wal")
        try store.append("b")
        #expect(try settings(of: store) == ["wal", "2", "0"])
    }

    @Test("The write-ahead log stays small under continuous writes")
    func bounded() throws {
        let store = try log.open()
        let isOver = Atomic(false)
        let stopped = DispatchSemaphore(value: 0)
        let thread = Thread {
            while !isOver.load(ordering: .relaxed) {
                try? store.maintain()
                usleep(10_000)
            }
            stopped.signal()
        }
        thread.start()
        let bodies = [[UInt8]](repeating: [UInt8](repeating: 65, count: 500), count: 100)
        var largest = 0
        // About 150 MB pass through the write-ahead log.
        for _ in 0..<3000 {
            try store.append(bodies)
            largest = max(largest, log.size("audit.db-wal"))
        }
        isOver.store(true, ordering: .relaxed)
        stopped.wait()
        #expect(largest < 128 << 20)
        #expect(largest > WriteAheadLog.step)
        #expect(log.size("audit.db") > 100 << 20)
    }

    @Test("Without maintenance, the writer keeps the write-ahead log small")
    func alone() throws {
        let store = try log.open()
        let bodies = [[UInt8]](repeating: [UInt8](repeating: 65, count: 500), count: 1000)
        var largest = 0
        for _ in 0..<150 {
            try store.append(bodies)
            largest = max(largest, log.size("audit.db-wal"))
        }
        #expect(largest > WriteAheadLog.limit && largest < 2 * WriteAheadLog.limit)
    }

    @Test("A reader's snapshot lets the write-ahead log grow and does not stop the writer")
    func slowReader() throws {
        let store = try log.open()
        try store.append("a")
        let reader = try Connection(path: log.path, access: .readOnly)
        try reader.execute("BEGIN; SELECT * FROM head")
        let bodies = [[UInt8]](repeating: [UInt8](repeating: 65, count: 500), count: 1000)
        for _ in 0..<60 {
            try store.append(bodies)
            try store.maintain()
        }
        let grown = log.size("audit.db-wal")
        try reader.execute("COMMIT")
        for _ in 0..<60 {
            try store.append(bodies)
            try store.maintain()
        }
        #expect(log.size("audit.db-wal") <= grown + 2 << 20)
    }
}
