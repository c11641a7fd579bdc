import AuditKit
import AuditKitTesting
import Foundation
import SQLite
import SigningKit
import Testing

@testable import SQLiteAuditStore

/// A log in its own directory, which is removed with it.
final class TestLog {
    static let identity = AuditIdentity(origin: "example.com/privyseal/test")

    let directory: String
    var path: String { directory + "/audit.db" }
    var index: String { directory + "/audit.index.db" }

    init() throws {
        directory = NSTemporaryDirectory() + "privyseal-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try SQLiteAuditStore.create(at: AuditLocation(path), identity: Self.identity)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func open(timeout: Duration = .milliseconds(50)) throws -> SQLiteAuditStore {
        try SQLiteAuditStore.open(at: AuditLocation(path), as: .gateway, timeout: timeout)
    }

    func read() throws -> any AuditReader { try SQLiteAuditStore.read(at: AuditLocation(path)) }

    /// Runs raw SQL, as a person with an SQLite tool would.
    func tamper(_ statements: String...) throws {
        let connection = try Connection(path: path, access: .readWrite)
        for statement in statements { try connection.execute(statement) }
    }

    // MARK: Files

    var files: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []) }

    func move(_ from: String, _ to: String) throws {
        #expect(rename(directory + "/" + from, directory + "/" + to) == 0)
    }

    func copy(_ from: String, _ to: String) throws {
        try FileManager.default.copyItem(atPath: directory + "/" + from, toPath: directory + "/" + to)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: directory + "/" + name) }

    func size(_ name: String) -> Int {
        var status = stat()
        return stat(directory + "/" + name, &status) == 0 ? Int(status.st_size) : 0
    }

    func mode(_ name: String) -> mode_t {
        var status = stat()
        return stat(directory + "/" + name, &status) == 0 ? status.st_mode & 0o7777 : 0
    }
}

extension SQLiteAuditStore {
    /// Uses the writer of the store.
    func withWriter<Outcome>(
        _ body: (Writer) throws(AuditStoreError) -> Outcome
    ) throws(AuditStoreError) -> Outcome {
        try writerHandle.use { (handle) throws(AuditStoreError) in try body(handle.ready()) }
    }
}
