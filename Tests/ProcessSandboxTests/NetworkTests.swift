import Glibc
import ProcessSandbox
import Testing

@Suite("Sockets in the sandbox")
struct NetworkTests {
    @Test("the filter refuses sockets by their domain", arguments: SandboxPolicy.Network.allCases)
    func domains(_ network: SandboxPolicy.Network) throws {
        let policy = SandboxPolicy(network: network).with(only: .noNewPrivileges, .systemCalls)
        let remote = network == .any ? 0 : EPERM
        let expected = [
            "socket:inet": remote, "socket:inet6": remote, "socket:netlink": remote,
            "socket:unix": network == .none ? EPERM : 0, "thread:socket:inet": remote, "socketpair:unix": 0,
        ]
        #expect(try ProbeRun(policy, expected.keys.sorted()).errors == expected)
        let free = try ProbeRun(nil, expected.keys.sorted()).errors
        #expect(free == expected.mapValues { _ in 0 })
    }

    @Test("Landlock refuses TCP on a socket that exists already", .enabled(if: try Landlock.has(.tcp)))
    func tcp() throws {
        let policy = SandboxPolicy().with(only: .noNewPrivileges, .tcp)
        try expectRefusals(["bind-tcp": EACCES, "connect-tcp": EACCES, "thread:bind-tcp": EACCES], under: policy)
        #expect(try ProbeRun(SandboxPolicy(network: .any), ["bind-tcp"]).errors == ["bind-tcp": 0])
    }

    @Test("Landlock refuses signals to the parent", .enabled(if: try Landlock.has(.signalScope)))
    func signals() throws {
        try expectRefusals(
            [
                "signal-parent:0": EPERM, "signal-parent-thread:0": EPERM, "signal-any-thread:0": EPERM,
                "queue-signal:0": EPERM, "thread:signal-parent:0": EPERM,
            ], under: SandboxPolicy().with(only: .noNewPrivileges, .signalScope))
    }

    @Test("Landlock refuses abstract Unix sockets of other processes", .enabled(if: try Landlock.has(.socketScope)))
    func abstractSockets() throws {
        let listener = try AbstractListener()
        defer { listener.close() }
        let attempt = "connect-unix:@\(listener.name)"
        try expectRefusals([attempt: EPERM], under: SandboxPolicy().with(only: .noNewPrivileges, .socketScope))
        #expect(try ProbeRun(SandboxPolicy(network: .any), [attempt]).errors == [attempt: 0])
    }

    @Test("Landlock refuses what ptrace could read of the parent", .enabled(if: try Landlock.has(.files)))
    func parentFiles() throws {
        try expectRefusals(
            [
                "trace-parent": EPERM, "read-memory": EPERM, "write-memory": EPERM, "parent-file:mem": EACCES,
                "parent-file:root/etc": EACCES, "thread:parent-file:mem": EACCES,
            ], under: SandboxPolicy().with(only: .noNewPrivileges, .files))
    }
}

/// The layers that the kernel supports.
enum Landlock {
    static func has(_ layer: SandboxLayer) throws -> Bool {
        try ProbeRun(SandboxPolicy(), []).report?.applied.contains(layer) == true
    }
}
