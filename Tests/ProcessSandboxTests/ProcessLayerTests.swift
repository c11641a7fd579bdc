import Glibc
import ProcessSandbox
import Testing

@Suite("Layers of one system call")
struct ProcessLayerTests {
    @Test("every layer is applied")
    func everyLayer() throws {
        let report = try #require(try ProbeRun(SandboxPolicy(memoryLimit: 1 << 30, parent: 0), []).report)
        // Landlock's layers depend on the kernel, and without a hidden path there is no layer of mounts.
        let expected = Set(SandboxLayer.allCases).subtracting(report.missing.map(\.layer)).subtracting([.mounts])
        #expect(Set(report.applied) == expected)
        #expect(Set(report.missing.map(\.layer)).isSubset(of: [.files, .tcp, .signalScope, .socketScope]))
    }

    @Test("the layers set the values of the process")
    func values() throws {
        let run = try ProbeRun(SandboxPolicy(descriptorLimit: 500, parent: 0), Self.names)
        let values = run.errors
        #expect(values["value:umask"] == 0o077)
        #expect(values["value:session"] == 1)
        #expect(values["value:noNewPrivileges"] == 1)
        #expect(values["value:dumpable"] == 0)
        #expect(values["value:coreLimit"] == 0)
        #expect(values["value:descriptorLimit"] == 500)
        #expect(values["value:capabilities"] == 0)
        let free = try ProbeRun(nil, Self.names).errors
        #expect(free["value:session"] == 0)
        #expect(free["value:noNewPrivileges"] == 0)
        #expect(free["value:dumpable"] == 1)
        #expect(try #require(free["value:descriptorLimit"]) > 500)
        #expect(try #require(values["value:oomScore"]) == min(try #require(free["value:oomScore"]) + 500, 1000))
    }

    private static let names = [
        "umask", "session", "noNewPrivileges", "dumpable", "coreLimit", "descriptorLimit", "capabilities", "oomScore",
    ].map { "value:\($0)" }

    @Test("the signals at the end of a service are ignored", arguments: [SIGTERM, SIGINT, SIGHUP, SIGPIPE])
    func ignoredSignals(_ signal: Int32) throws {
        let attempt = "signal-self:\(signal)"
        let policy = SandboxPolicy().with(only: .signals)
        #expect(try ProbeRun(policy, [attempt, "value:umask"]).errors.count == 2)
        #expect(try ProbeRun(nil, [attempt, "value:umask"]).errors.isEmpty)
    }

    @Test("an allocation beyond the memory limit fails, and threads below it start")
    func memoryLimit() throws {
        let policy = SandboxPolicy(memoryLimit: 256 << 20).with(only: .memoryLimit)
        try expectRefusals(["allocate:\(512 << 20)": ENOMEM, "thread:allocate:\(512 << 20)": ENOMEM], under: policy)
        let allowed = ["allocate:\(64 << 20)", "threads:10"]
        #expect(try ProbeRun(policy, allowed).errors == [allowed[0]: 0, allowed[1]: 0])
    }

    @Test("a process of root without capabilities cannot read its parent's memory")
    func capabilities() throws {
        // Another user has no capabilities to lose.
        guard getuid() == 0 else { return }
        try expectRefusals(
            [
                "trace-parent": EPERM, "read-memory": EPERM, "parent-file:mem": EACCES, "parent-file:environ": EACCES,
                "thread:read-memory": EPERM,
            ], under: SandboxPolicy().with(only: .capabilities))
    }

    @Test("the process ends when its parent ends")
    func parentDeath() throws {
        let policy = SandboxPolicy(parent: 0).with(only: .parentDeath)
        for (policy, isAlive) in [(policy, false), (policy.with(only: .privateFiles), true)] {
            let run = try ProbeRun(policy, ["value:pid", "stay-alive:2"]) { lines, parent in
                if lines == 2 { kill(parent, SIGKILL) }
            }
            #expect((run.errors["stay-alive:2"] == 0) == isAlive)
        }
    }

    @Test("the layer is missing if the parent has ended already")
    func endedParent() throws {
        let run = try ProbeRun(SandboxPolicy(parent: 1), [])
        #expect(
            run.report?.missing.first { $0.layer == .parentDeath }?.reason == "the parent, process 1, has ended")
    }

    @Test("with a second thread, the layers of one thread are missing, and the filter restricts both threads")
    func secondThread() throws {
        let run = try ProbeRun(
            SandboxPolicy(parent: 0), ["thread:fork", "fork", "value:noNewPrivileges"],
            environment: ["SANDBOX_PROBE_THREAD": "1"])
        let report = try #require(run.report)
        let layers: Set<SandboxLayer> = [.noNewPrivileges, .capabilities, .files, .tcp, .signalScope, .socketScope]
        #expect(Set(report.missing.map(\.layer)) == layers)
        #expect(
            report.missing.allSatisfy { $0.reason == "the process has 2 threads; the layer needs exactly one" })
        #expect(run.errors["thread:fork"] == EPERM)
        #expect(run.errors["fork"] == EPERM)
    }

    @Test("a layer that the policy omits is missing")
    func omittedLayer() throws {
        let run = try ProbeRun(SandboxPolicy(parent: 0, omittedLayers: [.systemCalls]), ["fork"])
        #expect(run.report?.missing.contains { $0.layer == .systemCalls && $0.reason == "the policy omits it" } == true)
        #expect(run.errors["fork"] == 0)
    }
}
