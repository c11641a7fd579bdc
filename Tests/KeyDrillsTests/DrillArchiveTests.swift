import Foundation
import Glibc
import KeyDrills
import Testing

@Suite("The drill archive")
struct DrillArchiveTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-\(UUID().uuidString)")
    private var archive: DrillArchive { DrillArchive(directory.appending(path: "drills").path) }

    @discardableResult
    private func keep(_ record: DrillRecord) throws -> String {
        try archive.keep(DrillArchive.bytes(of: record), of: record.id, "json")
    }

    @Test("The archive lists the newest record first and finds the previous one by scenario")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try archive.prepare()
        let records = [
            Samples.record(), Samples.record(begun: 60_000, scenario: .tokenLoss), Samples.record(begun: 120_000),
        ]
        for record in records { try keep(record) }
        #expect(archive.records().records == records.reversed())
        #expect(archive.records().complaints.isEmpty)
        #expect(archive.predecessor(of: records[2]) == records[0])
        #expect(archive.predecessor(of: records[1]) == nil)
        #expect(try archive.record(records[1].id) == records[1])
    }

    @Test("The archive reports a file that is not a record and still lists the others")
    func broken() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try archive.prepare()
        try keep(Samples.record())
        try Data("{}".utf8).write(to: URL(filePath: archive.path("broken", "json")))
        #expect(archive.records().records.count == 1)
        #expect(archive.records().complaints.count == 1)
        #expect(throws: DrillError.self) { try archive.record("broken") }
    }

    @Test("The archive keeps a proof beside its record, and the digest matches the file")
    func proof() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let record = Samples.record()
        try archive.prepare()
        let file = try keep(record)
        try archive.keep("c2sp.org/tlog-proof@v1\n".utf8, of: record.id, DrillArchive.proofEnding)
        let proof = try String(contentsOfFile: archive.path(record.id, "tlog-proof"), encoding: .utf8)
        #expect(proof == "c2sp.org/tlog-proof@v1\n")
        let bytes = Array(try Data(contentsOf: URL(filePath: file)))
        #expect(bytes == DrillArchive.bytes(of: record))
        #expect(try archive.digest(of: record.id) == DrillArchive.digest(of: bytes))
        // FIPS 180-4: SHA-256 of "abc".
        #expect(
            DrillArchive.digest(of: Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("The archive refuses a record copied under another name and still lists the original")
    func copied() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try archive.prepare()
        let record = Samples.record()
        let file = try keep(record)
        try FileManager.default.copyItem(atPath: file, toPath: archive.path("20261123T000000Z-compromise", "json"))
        #expect(archive.records().records == [record])
        #expect(archive.records().complaints.count == 1)
    }

    @Test("The archive refuses a file of more than 16 MiB")
    func large() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try archive.prepare()
        let path = archive.path("large", "json")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(truncate(path, (1 << 24) + 1) == 0)
        let error = #expect(throws: DrillError.self) { try archive.record("large") }
        #expect(error?.description.contains("is longer than") == true)
    }

    @Test("The archive reports a directory and a FIFO as not regular files")
    func special() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try archive.prepare()
        #expect(mkdir(archive.path("directory", "json"), 0o700) == 0)
        #expect(mkfifo(archive.path("fifo", "json"), 0o600) == 0)
        let complaints = archive.records().complaints
        #expect(complaints.count == 2 && complaints.allSatisfy { $0.hasSuffix("is not a regular file.") })
    }

    @Test("The archive refuses an unwritable directory with the system's reason")
    func unwritable() throws {
        let error = #expect(throws: DrillError.self) { try DrillArchive("/proc/nope/drills").prepare() }
        #expect(error?.description == "/proc/nope cannot be made: No such file or directory.")
    }

    @Test("An ID cannot name a path outside of the archive", arguments: ["../../etc/passwd", "a/b", ""])
    func escape(_ id: String) {
        #expect(throws: DrillError.self) { try archive.record(id) }
    }

    @Test("An empty archive has no records")
    func empty() {
        #expect(archive.records().records.isEmpty)
    }
}
