import Glibc
import ProcessSandbox
import Testing

@testable import struct ProcessSandbox.SystemCallRule
@testable import enum ProcessSandbox.SystemCallRules

/// The seccomp filter, without the other layers.
@Suite("System calls in the sandbox")
struct SystemCallTests {
    private let policy = SandboxPolicy().with(only: .noNewPrivileges, .systemCalls)

    @Test("the filter refuses what reaches another process")
    func otherProcesses() throws {
        try expectRefusals(
            [
                "trace-parent": EPERM, "read-memory": EPERM, "write-memory": EPERM, "limit-parent": EPERM,
                "own-descriptor": EPERM, "signal-parent:0": EPERM, "signal-parent:\(SIGCHLD)": EPERM,
                "signal-parent-thread:0": EPERM, "signal-any-thread:0": EPERM, "queue-signal:0": EPERM,
                "signal-group:0": EPERM,
            ], under: policy)
    }

    @Test("the filter refuses new programs and processes")
    func newProcesses() throws {
        try expectRefusals(
            [
                "execute": EPERM, "shell": EPERM, "fork": EPERM, "vfork": EPERM, "clone": EPERM, "clone3": ENOSYS,
                "thread:shell": EPERM, "thread:fork": EPERM,
            ], under: policy)
    }

    @Test("the filter refuses to undo a layer")
    func ownSettings() throws {
        try expectRefusals(["parent-death-signal": EPERM, "dumpable": EPERM], under: policy)
    }

    @Test("the filter refuses system calls of another architecture")
    func otherArchitecture() throws {
        #if arch(x86_64)
            try expectRefusals(["x32": EPERM], under: policy)
        #else
            try #require(try ProbeRun(policy, ["x32"]).errors == ["x32": EPERM])
        #endif
    }

    @Test("the filter allows threads, and signals to the process itself")
    func ownThreads() throws {
        let attempts = ["threads:4", "signal-self:0", "signal-thread:0", "thread:signal-thread:0", "allocate:1000000"]
        #expect(try ProbeRun(policy, attempts).errors == Dictionary(uniqueKeysWithValues: attempts.map { ($0, 0) }))
    }

    @Test("the filter refuses each call of its list", arguments: SystemCallRules.always)
    func list(_ name: String) throws {
        let attempt = "system-call:\(name)"
        // -1 or ENOSYS: the architecture has no such call.
        let absent: [Int32] = [-1, ENOSYS]
        let refused = try ProbeRun(policy, [attempt, "thread:\(attempt)"]).errors[attempt]
        #expect(refused == EPERM || refused.map(absent.contains) == true)
    }

    @Test(
        "without the filter, the calls fail with another error",
        arguments: ["process_vm_readv", "keyctl", "add_key", "execve", "pidfd_open", "pidfd_getfd", "kcmp", "unshare"])
    func control(_ name: String) throws {
        #expect(try ProbeRun(nil, ["system-call:\(name)"]).errors["system-call:\(name)"] != EPERM)
    }
}
