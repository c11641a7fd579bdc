import AuditKit
import Foundation
import SQLite
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
        try SQLiteAuditStore.create(at: path, identity: Self.identity)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func open(timeout: Duration = .milliseconds(50)) throws -> SQLiteAuditStore {
        try SQLiteAuditStore.open(at: path, timeout: timeout)
    }

    func read() throws -> any AuditReader { try SQLiteAuditStore.read(at: path) }

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

extension AuditStore {
    /// Appends bodies in one transaction, as the log appender does: closes segments and sets the head.
    @discardableResult
    func append(_ bodies: [[UInt8]]) throws(AuditStoreError) -> Int {
        try write { (transaction) throws(AuditStoreError) in
            var next = try transaction.head()?.size ?? 0
            for body in bodies {
                try transaction.append(
                    StoredEntry(index: next, body: body, mark: UInt64(next) &* 0x9e37_79b9_7f4a_7c15))
                next += 1
                if next.isMultiple(of: AuditSegment.size) {
                    let segment = next / AuditSegment.size - 1
                    try transaction.close(segment: segment, root: TestRoot.of(segment))
                }
            }
            try transaction.setHead(SignedTreeHead(size: next, note: "note \(next)"))
            return next
        }
    }

    @discardableResult
    func append(_ texts: String...) throws(AuditStoreError) -> Int { try append(texts.map { Array($0.utf8) }) }
}

enum TestRoot {
    static func of(_ segment: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: segment + 1), count: 32) }
}

extension AuditReader {
    func bodies(_ range: Range<Int> = 0..<Int.max) throws -> [String] {
        var bodies: [String] = []
        try entries(in: range) { entry in
            bodies.append(String(decoding: entry.body, as: UTF8.self))
            return true
        }
        return bodies
    }
}

/// The case of an error, without its sentence.
enum ErrorKind: Equatable {
    case missing, full, readOnly, busy, replaced, damaged, unfit, failed, closed

    init(_ error: AuditStoreError) {
        self =
            switch error {
            case .missing: .missing
            case .full: .full
            case .readOnly: .readOnly
            case .busy: .busy
            case .replaced: .replaced
            case .damaged: .damaged
            case .unfit: .unfit
            case .failed: .failed
            case .closed: .closed
            }
    }
}

func expect<Value>(
    _ kind: ErrorKind, _ location: SourceLocation = #_sourceLocation, _ body: () throws(AuditStoreError) -> Value
) {
    do throws(AuditStoreError) {
        _ = try body()
        Issue.record("nothing was thrown instead of \(kind)", sourceLocation: location)
    } catch {
        #expect(ErrorKind(error) == kind, "\(error)", sourceLocation: location)
        #expect(error.description.hasSuffix("."), sourceLocation: location)
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
