import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import Testing

@testable import SQLiteAuditStore

@Suite("Registers in SQLite")
struct RegisterStoreTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("Constraints prevent the removal and the rollback of a register")
    func protection() throws {
        let store = try log.open()
        try store.append("a", "b")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.register(AuditRegister(name: "key/A", value: [1], entry: 1))
        }
        #expect(throws: SQLiteError.self) { try log.tamper("DELETE FROM register") }
        #expect(throws: SQLiteError.self) { try log.tamper("UPDATE register SET entry = 0") }
    }

    @Test("A log of the first version is readable and gets the register table at the first write")
    func upgrade() throws {
        try log.open().append("a")
        try log.tamper("DROP TABLE register", "PRAGMA user_version = 1")
        #expect(try log.read().registers().isEmpty)
        #expect(try log.read().inspect().isEmpty)
        let store = try log.open()
        try store.append("b")
        try store.write { (transaction) throws(AuditStoreError) in
            try transaction.register(AuditRegister(name: "key/A", value: [1], entry: 1))
        }
        #expect(try log.read().registers().count == 1)
        #expect(try log.read().inspect().isEmpty)
        #expect(try log.read().bodies() == ["a", "b"])
    }
}
