import Foundation
import GatewayConfiguration
import Glibc
import Testing

@testable import GatewayHTTP

@Suite("Unix socket paths")
struct UnixSocketTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8)).sock")
        .path

    @Test("requireFree accepts a missing path and a socket without a listening process")
    func free() throws {
        try UnixSocket.requireFree(path)
        close(try listeningSocket())
        try UnixSocket.requireFree(path)
        unlink(path)
    }

    @Test("requireFree refuses a socket with a listening process")
    func occupied() throws {
        let descriptor = try listeningSocket()
        defer {
            close(descriptor)
            unlink(path)
        }
        let error = #expect(throws: ListenerError.self) { try UnixSocket.requireFree(path) }
        #expect(error?.description.contains("another process listens on \(path)") == true)
    }

    @Test("requireFree refuses and keeps a file that is not a socket")
    func file() throws {
        try Data("precious".utf8).write(to: URL(filePath: path))
        defer { unlink(path) }
        #expect(throws: ListenerError.self) { try UnixSocket.requireFree(path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("A symbolic link in place of a socket redirects no change of mode or owner")
    func redirected() throws {
        let target = path + ".target"
        try Data("precious".utf8).write(to: URL(filePath: target))
        try #require(chmod(target, 0o600) == 0 && symlink(target, path) == 0)
        defer {
            unlink(path)
            unlink(target)
        }
        let permissions = SocketPermissions(mode: 0o666, uid: geteuid())
        #expect(throws: ListenerError.self) { try UnixSocket.setPermissions(permissions, at: path) }
        #expect(try mode(of: target) == 0o600)
    }

    @Test("A socket gets its configured mode")
    func permitted() throws {
        let descriptor = try listeningSocket()
        defer {
            close(descriptor)
            unlink(path)
        }
        let permissions = SocketPermissions(mode: 0o640, uid: geteuid(), gid: getegid())
        try UnixSocket.setPermissions(permissions, at: path)
        #expect(try mode(of: path) == 0o640)
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    private func listeningSocket() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, 1) == 0)
        return descriptor
    }
}
