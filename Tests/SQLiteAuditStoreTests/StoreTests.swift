import AuditKit
import AuditKitTesting
import Foundation
import Testing

@testable import SQLiteAuditStore

@Suite("The SQLite audit store")
struct StoreTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    @Test("A location must be a path, with or without the scheme")
    func locations() throws {
        #expect(try SQLiteAuditStore.exists(at: AuditLocation(log.path)))
        #expect(try SQLiteAuditStore.exists(at: AuditLocation("sqlite:" + log.path)))
        #expect(try !SQLiteAuditStore.exists(at: AuditLocation(log.path + ".not")))
        for location in ["", "sqlite:", log.directory + "/"] {
            expect(.unfit) { () throws(AuditStoreError) in try SQLiteAuditStore.exists(at: AuditLocation(location)) }
        }
        #expect(try LogLocation("a.db").path.hasSuffix("/a.db"))
        #expect(try LogLocation("/x/audit.db").index == "/x/audit.index.db")
        #expect(try LogLocation("/x/audit").index == "/x/audit.index.db")
    }

    @Test("create refuses an existing file and a missing directory")
    func creating() throws {
        let before = try Data(contentsOf: URL(filePath: log.path))
        expect(.unfit) { () throws(AuditStoreError) in
            try SQLiteAuditStore.create(at: AuditLocation(log.path), identity: AuditIdentity(origin: "other"))
        }
        #expect(try Data(contentsOf: URL(filePath: log.path)) == before)
        expect(.unfit) { () throws(AuditStoreError) in
            try SQLiteAuditStore.create(at: AuditLocation(log.directory + "/no/audit.db"), identity: TestLog.identity)
        }
        #expect(log.files == ["audit.db"])
    }

    @Test("open creates nothing and refuses files that are not a log")
    func opening() throws {
        expect(.missing) { () throws(AuditStoreError) in
            try SQLiteAuditStore.open(at: AuditLocation(log.path + ".not"), as: .gateway, timeout: .zero)
        }
        try Data("no database at all, but long enough to have a header, one would think.".utf8)
            .write(to: URL(filePath: log.directory + "/text"))
        try Data().write(to: URL(filePath: log.directory + "/empty"))
        for name in ["text", "empty", ""] {
            expect(.unfit) { () throws(AuditStoreError) in
                try SQLiteAuditStore.open(at: AuditLocation(log.directory + "/" + name), as: .gateway, timeout: .zero)
            }
            expect(.unfit) { () throws(AuditStoreError) in
                try SQLiteAuditStore.read(at: AuditLocation(log.directory + "/" + name))
            }
        }
        #expect(log.files == ["audit.db", "text", "empty"])
    }

    @Test("Only the owner can read and write the files of the store")
    func modes() throws {
        let store = try log.open()
        try store.append([[UInt8]](repeating: [1], count: AuditSegment.size))
        try store.index()
        for name in ["audit.db", "audit.db-wal", "audit.db-shm", "audit.index.db"] { #expect(log.mode(name) == 0o600) }
    }

    @Test("A closed store leaves one file")
    func closing() throws {
        let store = try log.open()
        try store.append("a")
        store.close()
        #expect(log.files == ["audit.db"])
    }

    @Test("freeBytes is the free space of the file system")
    func space() throws {
        #expect(try (log.open().freeBytes ?? 0) > 0)
    }
}
