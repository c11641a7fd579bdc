import Foundation
import KeyDrills
import Testing

@Suite("Where records are kept")
struct ShelfTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-\(UUID().uuidString)")
    private var shelf: DrillShelf { DrillShelf(directory.appending(path: "drills").path) }

    @Test("What was kept is found again, the last one first, and the one before it by scenario")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let records = [
            Samples.record(), Samples.record(begun: 60_000, scenario: .tokenLoss), Samples.record(begun: 120_000),
        ]
        for record in records { _ = try shelf.keep(record, page: "<html>", proof: nil) }
        #expect(shelf.records().records == records.reversed())
        #expect(shelf.records().complaints.isEmpty)
        #expect(shelf.predecessor(of: records[2]) == records[0])
        #expect(shelf.predecessor(of: records[1]) == nil)
        #expect(try shelf.record(records[1].id) == records[1])
    }

    @Test("A file that is no record is complained of, and hides no other")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try shelf.keep(Samples.record(), page: "", proof: nil)
        try Data("{}".utf8).write(to: URL(filePath: shelf.path("broken", "json")))
        #expect(shelf.records().records.count == 1)
        #expect(shelf.records().complaints.count == 1)
        #expect(throws: DrillError.self) { try shelf.record("broken") }
    }

    @Test("The proof of a record is kept beside it, and the digest is that of the file")
    func proof() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let record = Samples.record()
        let files = try shelf.keep(record, page: "", proof: "c2sp.org/tlog-proof@v1\n")
        let proof = try String(contentsOfFile: shelf.path(record.id, "tlog-proof"), encoding: .utf8)
        #expect(proof == "c2sp.org/tlog-proof@v1\n")
        let bytes = Array(try Data(contentsOf: URL(filePath: files.json)))
        #expect(bytes == DrillShelf.bytes(of: record))
        #expect(try shelf.digest(of: record.id) == DrillShelf.digest(of: bytes))
        // FIPS 180-4: SHA-256 of "abc".
        #expect(
            DrillShelf.digest(of: Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
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
