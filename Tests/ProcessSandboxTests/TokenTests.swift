import Foundation
import Glibc
import ProcessSandbox
import SoftHSMTesting
import Testing

@Suite("A token in the sandbox", .softHSM)
struct TokenTests {
    @Test("SoftHSM signs beside a hidden file, without the PIN files of others")
    func hiddenFile() throws {
        let token = try Self.token()
        let other = try token.pinFile(holding: "0000")
        let attempts = [Self.attempt(token), "read:\(other.path)"]
        let policy = SandboxPolicy(network: .none, hiddenPaths: [other.path], memoryLimit: 1 << 29, parent: 0)
        let run = try ProbeRun(policy, attempts)
        #expect(run.errors == [attempts[0]: 0, attempts[1]: EACCES])
        #expect(try ProbeRun(nil, attempts).errors == [attempts[0]: 0, attempts[1]: 0])
    }

    @Test("SoftHSM signs with a list of paths, and needs its directory in it")
    func strictPaths() throws {
        let token = try Self.token()
        let directory = token.pinFile.deletingLastPathComponent().path
        let attempt = Self.attempt(token)
        let modules = URL(filePath: token.modulePath).resolvingSymlinksInPath().deletingLastPathComponent().path
        var policy = SandboxPolicy(network: .none, paths: [directory, modules], memoryLimit: 1 << 29, parent: 0)
        #expect(try ProbeRun(policy, [attempt]).errors == [attempt: 0])
        policy.paths = [modules]
        #expect(try ProbeRun(policy, [attempt]).errors == [attempt: -2])
    }

    private static func token() throws -> SoftHSMToken {
        let token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "key", id: [1])
        return token
    }

    private static func attempt(_ token: SoftHSMToken) -> String {
        "token:\(token.modulePath):\(token.label):\(token.pinFile.path)"
    }
}
