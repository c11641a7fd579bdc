import Foundation
import Glibc
import Testing

@testable import GatewayHTTP

@Suite("The path of a Unix socket")
struct UnixSocketTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8)).sock")
        .path

    @Test("Nothing there, or what a dead process left behind, is free")
    func free() throws {
        try UnixSocket.requireFree(path)
        close(try listeningSocket())
        try UnixSocket.requireFree(path)
        unlink(path)
    }

    @Test("What a living process listens on is not taken away")
    func occupied() throws {
        let descriptor = try listeningSocket()
        defer {
            close(descriptor)
            unlink(path)
        }
        let error = #expect(throws: ListenerError.self) { try UnixSocket.requireFree(path) }
        #expect(error?.description.contains("another process listens on \(path)") == true)
    }

    @Test("A file that is no socket is not taken away")
    func file() throws {
        try Data("precious".utf8).write(to: URL(filePath: path))
        defer { unlink(path) }
        #expect(throws: ListenerError.self) { try UnixSocket.requireFree(path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("A symbolic link in the place of a socket redirects neither its mode nor its owner")
    func redirected() throws {
        let target = path + ".target"
        try Data("precious".utf8).write(to: URL(filePath: target))
        try #require(chmod(target, 0o600) == 0 && symlink(target, path) == 0)
        defer {
            unlink(path)
            unlink(target)
        }
        let permissions = SocketPermissions(mode: 0o666, uid: geteuid())
        let plan = ListenerPlan(.public, address: .unixSocket(path: path), socket: permissions)
        #expect(throws: ListenerError.self) { try plan.permitSocket() }
        #expect(try mode(of: target) == 0o600)
    }

    @Test("A socket gets its mode")
    func permitted() throws {
        let descriptor = try listeningSocket()
        defer {
            close(descriptor)
            unlink(path)
        }
        let permissions = SocketPermissions(mode: 0o640, uid: geteuid(), gid: getegid())
        try ListenerPlan(.public, address: .unixSocket(path: path), socket: permissions).permitSocket()
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
