import Foundation
import Glibc
import ProcessSandbox
import Testing

/// The layer of mounts. Only root may use it; other users get Landlock instead.
@Suite("Mounts in the sandbox")
struct MountLayerTests {
    @Test("a hidden file cannot be opened, and files that appear beside it can")
    func hiddenFile() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let policy = SandboxPolicy(hiddenPaths: [directory.secret])
            .with(only: .noNewPrivileges, .mounts, .capabilities, .files, .systemCalls)
        let run = try ProbeRun(policy, ["read:\(directory.secret)", "write:\(directory.secret)"])
        guard geteuid() == 0 else {
            #expect(run.report?.missing.contains { $0.layer == .mounts } == true)
            #expect(run.errors.values.allSatisfy { $0 == EACCES })
            return
        }
        #expect(run.report?.applied.contains(.mounts) == true)
        let beside = "\(directory.secret)-beside"
        let allowed = ["create:\(beside)", "write:\(beside)", "read:\(beside)", "remove:\(beside)"]
        try expectRefusals(
            [
                "read:\(directory.secret)": EACCES, "write:\(directory.secret)": EACCES,
                "read:/proc/self/root\(directory.secret)": EACCES,
                "parent-file:root\(directory.secret)": EACCES,
            ], under: policy)
        let others = try ProbeRun(policy, allowed)
        #expect(others.errors == Dictionary(uniqueKeysWithValues: allowed.map { ($0, 0) }))
        #expect(FileManager.default.contents(atPath: directory.secret) == Data("secret".utf8))
    }
}
