import Glibc
import SignerProtocol
import SigningKit
import SigningKitTesting
import Testing

@testable import SignerHost

@Suite("The start of a signer")
struct SignerStartTests {
    @Test("A gateway of another version learns that the signer must be restarted")
    func otherVersion() throws {
        var sockets: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        defer { for socket in sockets { close(socket) } }
        var start = SignerStart(SignerSettings(name: "old"))
        start.version += 1
        let call = SignerFrame.encoding(Numbered(7, SignerCall.start(start)), as: .call).bytes
        #expect(send(sockets[0], call, call.count, 0) == call.count)
        let host = SignerHost(socket: sockets[1], backends: [FakeKeyBackend.self], secrets: NoSecrets(), onEnd: {})
        #expect(throws: SignerProtocolError.self) {
            try host.start { _ in SignerProtection(pid: 1, uid: 0, layers: [], missing: [:]) }
        }
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(sockets[0], &room, room.count, 0)
        var frames = SignerFrameReader()
        room[..<max(0, count)].withUnsafeBytes { frames.append($0) }
        let answer: Numbered<SignerAnswer> = try #require(try frames.next()).decode()
        guard case .failed(let error, _) = answer.message else {
            Issue.record("\(answer.message)")
            return
        }
        #expect(answer.id == 7)
        #expect(error.description.contains("another version of privyseal. Restart its service."))
    }
}
