import Foundation
import SQLite
import Testing

@testable import SQLiteAuditStore

@Suite("The write-ahead log's extent")
struct LogExtentTests {
    private let log: TestLog
    private let connection: Connection
    private let extent: LogExtent
    private var path: String { log.path + "-wal" }

    init() throws {
        log = try TestLog()
        connection = try Connection(path: log.path, access: .readWrite)
        try Durability.set(on: connection)
        try connection.execute("CREATE TABLE thing (a)")
        extent = try LogExtent(log.path + "-wal")
        try write(20)
        look()
        #expect(!extent.isCutOff)
    }

    /// Commits of a page or more each.
    private func write(_ commits: Int, on connection: Connection? = nil) throws {
        for _ in 0..<commits {
            try (connection ?? self.connection).execute("INSERT INTO thing VALUES (zeroblob(4000))")
        }
    }

    private func look() { extent.look { connection.logIndex } }

    private func index() throws -> LogIndex { try #require(connection.logIndex) }

    private func size(of frames: Int) -> Int { 32 + frames * (24 + LogSchema.pageSize) }

    @Test("The index says how many frames there are, and of what size")
    func says() throws {
        let before = try index()
        #expect(before.pageSize == LogSchema.pageSize)
        #expect(log.size("audit.db-wal") == size(of: before.frames))
        try write(1)
        let after = try index()
        #expect(after.frames > before.frames && after.salt == before.salt)
        #expect(try connection.emptyLog())
        #expect(try index().frames == 0 && index().salt != before.salt)
    }

    @Test("A log that was cut off is seen, wherever that was", arguments: [0, 1, 32, 33, 4152, 40_000])
    func cutOff(size: Int) throws {
        truncate(path, off_t(size))
        look()
        #expect(extent.isCutOff)
    }

    @Test("One byte that is missing is seen, and room behind the last frame is not missed")
    func lastByte() throws {
        let end = try size(of: index().frames)
        truncate(path, off_t(end + 100_000))
        look()
        truncate(path, off_t(end))
        look()
        #expect(!extent.isCutOff)
        truncate(path, off_t(end - 1))
        look()
        #expect(extent.isCutOff)
    }

    @Test("A hole is seen, too, after a commit that did not notice it", arguments: [0, 32, 4152, 40_000])
    func hole(size: Int) throws {
        truncate(path, off_t(size))
        try write(5)
        #expect(try log.size("audit.db-wal") == self.size(of: index().frames))
        look()
        #expect(extent.isCutOff)
    }

    @Test("A hole that came between two looks among the new frames is seen")
    func holeAmongNew() throws {
        try write(5)
        let between = try size(of: index().frames)
        try write(5)
        truncate(path, off_t(between))
        try write(5)
        look()
        #expect(extent.isCutOff)
    }

    @Test("What was cut off once stays so, whatever is written afterwards")
    func stays() throws {
        let whole = try Data(contentsOf: URL(filePath: path))
        truncate(path, 5000)
        look()
        try whole.write(to: URL(filePath: path))
        look()
        #expect(extent.isCutOff)
    }

    @Test("A log that SQLite emptied is whole, also when another connection wrote first, less or more")
    func emptied() throws {
        let other = try Connection(path: log.path, access: .readWrite)
        try Durability.set(on: other)
        for commits in [0, 1, 100] {
            #expect(try other.emptyLog())
            #expect(log.size("audit.db-wal") == 0)
            try write(commits, on: other)
            look()
            try write(2)
            look()
            #expect(!extent.isCutOff)
        }
    }

    @Test("A log that is emptied just while one looks is whole")
    func emptiedMeanwhile() throws {
        let before = try index()
        #expect(try connection.emptyLog())
        var reads = 0
        extent.look {
            reads += 1
            return reads == 1 ? before : connection.logIndex
        }
        #expect(!extent.isCutOff && reads > 1)
    }

    @Test(
        "An index that was made anew from what was left does not hide that something is missing", arguments: [48, 96])
    func madeAnew(damage: Int) throws {
        let before = try index()
        truncate(path, off_t(size(of: before.frames / 2)))
        // As a process leaves it that dies while it writes there; and both copies, which are alike then.
        let file = try FileHandle(forUpdating: URL(filePath: log.path + "-shm"))
        try file.write(contentsOf: [UInt8](repeating: 1, count: damage))
        #expect(connection.logIndex == nil)
        _ = try connection.first("SELECT count(*) FROM thing") { $0.integer(0) }
        #expect(try index().frames < before.frames)
        look()
        #expect(extent.isCutOff)
        _ = file
    }
}
