import Foundation
import Glibc
import SigningKit
import Testing

@Suite("The reader of whole files")
struct BoundedFileTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    @Test("A file of exactly the limit is read, and a longer one is refused")
    func limit() throws {
        defer { unlink(path) }
        try Data("12345".utf8).write(to: URL(filePath: path))
        #expect(try BoundedFile.read(path, limit: 5) == Array("12345".utf8))
        #expect(throws: BoundedFile.Failure.tooLong) { try BoundedFile.read(path, limit: 4) }
        try Data().write(to: URL(filePath: path))
        #expect(try BoundedFile.read(path, limit: 5) == [])
    }

    @Test("A file of which the system does not know the length is read")
    func unknownLength() throws {
        #expect(try BoundedFile.read("/proc/self/status", limit: 1 << 16).starts(with: Array("Name:".utf8)))
    }

    @Test(
        "A FIFO without a writer is refused without waiting; so are a directory, a device, and a missing file",
        .timeLimit(.minutes(1)))
    func otherFiles() throws {
        #expect(throws: BoundedFile.Failure.system(ENOENT)) { try BoundedFile.read(path, limit: 5) }
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect(throws: BoundedFile.Failure.notRegular) { try BoundedFile.read(path, limit: 5) }
        #expect(throws: BoundedFile.Failure.notRegular) { try BoundedFile.read("/dev/zero", limit: 5) }
        #expect(throws: BoundedFile.Failure.directory) { try BoundedFile.read("/tmp", limit: 5) }
    }

    @Test("A device is read up to the limit if the caller allows it")
    func allowedDevice() {
        #expect(throws: BoundedFile.Failure.tooLong) { try BoundedFile.read("/dev/zero", limit: 5, mayBePipe: true) }
    }
}
