import Foundation
import Glibc
import Testing

@testable import GatewayHTTP

@Suite("Files of a TLS listener")
struct TLSFileTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    @Test("A regular file is read completely")
    func regular() throws {
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: URL(filePath: path))
        defer { unlink(path) }
        #expect(try TLSFile.read(path) == Array(content))
    }

    @Test("A FIFO is refused without waiting", .timeLimit(.minutes(1)))
    func fifo() throws {
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect(throws: TLSError.unfit(path: path)) { try TLSFile.read(path) }
    }

    @Test("A directory and a file that is too long are refused")
    func unfit() throws {
        #expect(throws: TLSError.unfit(path: "/tmp")) { try TLSFile.read("/tmp") }
        try Data(count: TLSFile.limit + 1).write(to: URL(filePath: path))
        defer { unlink(path) }
        #expect(throws: TLSError.unfit(path: path)) { try TLSFile.read(path) }
    }

    @Test("A missing file is unreadable")
    func missing() {
        #expect(throws: TLSError.unreadable(path: path, code: ENOENT)) { try TLSFile.read(path) }
    }
}
