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
        for record in records { _ = try shelf.keep(record, page: "<html>") }
        #expect(shelf.records().records == records.reversed())
        #expect(shelf.records().complaints.isEmpty)
        #expect(shelf.predecessor(of: records[2]) == records[0])
        #expect(shelf.predecessor(of: records[1]) == nil)
        #expect(try shelf.record(records[1].id) == records[1])
    }

    @Test("A file that is no record is complained of, and hides no other")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try shelf.keep(Samples.record(), page: "")
        try Data("{}".utf8).write(to: URL(filePath: shelf.path("broken", "json")))
        #expect(shelf.records().records.count == 1)
        #expect(shelf.records().complaints.count == 1)
        #expect(throws: DrillError.self) { try shelf.record("broken") }
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
