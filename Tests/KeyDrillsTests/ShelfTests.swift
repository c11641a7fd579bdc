import Foundation
import Glibc
import KeyDrills
import Testing

@Suite("Where records are kept")
struct ShelfTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-\(UUID().uuidString)")
    private var shelf: DrillShelf { DrillShelf(directory.appending(path: "drills").path) }

    @Test("What was kept is found again, the last one first, and the one before it by scenario")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try shelf.prepare()
        let records = [
            Samples.record(), Samples.record(begun: 60_000, scenario: .tokenLoss), Samples.record(begun: 120_000),
        ]
        for record in records { _ = try shelf.keep(record) }
        #expect(shelf.records().records == records.reversed())
        #expect(shelf.records().complaints.isEmpty)
        #expect(shelf.predecessor(of: records[2]) == records[0])
        #expect(shelf.predecessor(of: records[1]) == nil)
        #expect(try shelf.record(records[1].id) == records[1])
    }

    @Test("A file that is no record is complained of, and hides no other")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try shelf.prepare()
        _ = try shelf.keep(Samples.record())
        try Data("{}".utf8).write(to: URL(filePath: shelf.path("broken", "json")))
        #expect(shelf.records().records.count == 1)
        #expect(shelf.records().complaints.count == 1)
        #expect(throws: DrillError.self) { try shelf.record("broken") }
    }

    @Test("The proof of a record is kept beside it, and the digest is that of the file")
    func proof() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let record = Samples.record()
        try shelf.prepare()
        let file = try shelf.keep(record)
        try shelf.keep(proof: "c2sp.org/tlog-proof@v1\n", of: record)
        let proof = try String(contentsOfFile: shelf.path(record.id, "tlog-proof"), encoding: .utf8)
        #expect(proof == "c2sp.org/tlog-proof@v1\n")
        let bytes = Array(try Data(contentsOf: URL(filePath: file)))
        #expect(bytes == DrillShelf.bytes(of: record))
        #expect(try shelf.digest(of: record.id) == DrillShelf.digest(of: bytes))
        // FIPS 180-4: SHA-256 of "abc".
        #expect(
            DrillShelf.digest(of: Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("A copy of a record under another name is refused, and hides no record")
    func copied() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try shelf.prepare()
        let record = Samples.record()
        let file = try shelf.keep(record)
        try FileManager.default.copyItem(atPath: file, toPath: shelf.path("20261123T000000Z-compromise", "json"))
        #expect(shelf.records().records == [record])
        #expect(shelf.records().complaints.count == 1)
    }

    @Test("A file of more than 16 MiB is refused before it is read")
    func large() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try shelf.prepare()
        let path = shelf.path("large", "json")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(truncate(path, (1 << 24) + 1) == 0)
        let error = #expect(throws: DrillError.self) { try shelf.record("large") }
        #expect(error?.description.contains("is longer than") == true)
    }

    @Test("A directory and a FIFO under the name of a record are said to be no files")
    func special() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try shelf.prepare()
        #expect(mkdir(shelf.path("directory", "json"), 0o700) == 0)
        #expect(mkfifo(shelf.path("fifo", "json"), 0o600) == 0)
        let complaints = shelf.records().complaints
        #expect(complaints.count == 2 && complaints.allSatisfy { $0.hasSuffix("is not a regular file.") })
    }

    @Test("A directory in which no file can be written is refused with the system's reason")
    func unwritable() throws {
        let error = #expect(throws: DrillError.self) { try DrillShelf("/proc/nope/drills").prepare() }
        #expect(error?.description == "/proc/nope cannot be made: No such file or directory.")
    }

    @Test("An ID does not lead out of the directory", arguments: ["../../etc/passwd", "a/b", ""])
    func escape(_ id: String) {
        #expect(throws: DrillError.self) { try shelf.record(id) }
    }

    @Test("Where nothing was kept, there are no records")
    func empty() {
        #expect(shelf.records().records.isEmpty)
    }
}
