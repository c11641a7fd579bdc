import Foundation
import Glibc
import ProcessSandbox
import Testing

/// Landlock's layer of files, without the others.
@Suite("Files in the sandbox")
struct FileRulesTests {
    @Test("a hidden file is out of reach by every path, and files beside it are not")
    func hiddenFile() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let link = "\(directory.visible)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.secret)
        let policy = SandboxPolicy(hiddenPaths: [directory.secret]).with(only: .noNewPrivileges, .files)
        try expectRefusals(
            [
                "read:\(directory.secret)": EACCES,
                "write:\(directory.secret)": EACCES,
                "read:\(directory.visible)/../gateway/audit.sqlite": EACCES,
                "read:\(link)": EACCES,
                "read:/proc/self/root\(directory.secret)": EACCES,
                "parent-file:root\(directory.secret)": EACCES,
                "thread:read:\(directory.secret)": EACCES,
            ], under: policy)
        let allowed = [
            "read:\(directory.beside)", "write:\(directory.beside)", "read:\(directory.file)",
            "create:\(directory.visible)/new", "list:\(directory.visible)", "remove:\(directory.visible)/new",
            "rename:\(directory.file):\(directory.file)-renamed", "read:/etc/passwd", "write:/dev/null",
        ]
        let run = try ProbeRun(policy, allowed)
        #expect(run.errors == Dictionary(uniqueKeysWithValues: allowed.map { ($0, 0) }))
        #expect(run.report?.limits == [])
    }

    @Test("a hidden file cannot be changed, moved or removed", arguments: ["truncate", "remove", "rename", "link"])
    func changes(_ change: String) throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let target = ["rename", "link"].contains(change) ? ":\(directory.visible)/moved" : ""
        let attempt = "\(change):\(directory.secret)\(target)"
        let policy = SandboxPolicy(hiddenPaths: [directory.secret]).with(only: .noNewPrivileges, .files)
        let run = try ProbeRun(policy, [attempt])
        // A link into another directory needs a right that is missing in the first one (landlock(7)).
        #expect(run.errors[attempt] == (change == "link" ? EXDEV : EACCES))
        #expect(FileManager.default.contents(atPath: directory.secret) == Data("secret".utf8))
        #expect(try ProbeRun(nil, [attempt]).errors[attempt] == 0)
    }

    @Test("a hidden file that another process creates later is out of reach")
    func laterFile() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let later = "\(directory.secret)-wal"
        let policy = SandboxPolicy(hiddenPaths: [directory.secret, later]).with(only: .noNewPrivileges, .files)
        let attempts = ["stay-alive:1", "read:\(later)"]
        let run = try ProbeRun(policy, attempts) { lines, _ in
            if lines == 1 { try? Data("later".utf8).write(to: URL(filePath: later)) }
        }
        #expect(run.errors[attempts[1]] == EACCES)
        #expect(try ProbeRun(nil, attempts).errors[attempts[1]] == 0)
    }

    @Test("a hidden directory cannot be listed, and nothing is created in it")
    func hiddenDirectory() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let gateway = directory.root.appending(path: "gateway").path
        let policy = SandboxPolicy(hiddenPaths: [gateway]).with(only: .noNewPrivileges, .files)
        try expectRefusals(["list:\(gateway)": EACCES, "read:\(directory.beside)": EACCES], under: policy)
        #expect(try ProbeRun(policy, ["create:\(gateway)/new"]).errors == ["create:\(gateway)/new": EACCES])
    }

    @Test("a list of paths allows these and the system's directories, and nothing else")
    func strictPaths() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let policy = SandboxPolicy(paths: [directory.visible]).with(only: .noNewPrivileges, .files)
        try expectRefusals(
            [
                "read:\(directory.secret)": EACCES, "read:\(directory.beside)": EACCES,
                "list:\(directory.root.path)": EACCES,
            ],
            under: policy)
        let allowed = [
            "read:\(directory.file)", "write:\(directory.file)", "create:\(directory.visible)/new",
            "read:/etc/passwd", "list:/usr/lib", "read:/proc/self/status", "write:/dev/null",
        ]
        let run = try ProbeRun(policy, allowed)
        #expect(run.errors == Dictionary(uniqueKeysWithValues: allowed.map { ($0, 0) }))
        #expect(try ProbeRun(policy, ["write:/etc/passwd"]).errors == ["write:/etc/passwd": EACCES])
    }

    @Test("hiddenPaths wins over paths, and the report names a path that is in both")
    func conflict() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let policy = SandboxPolicy(
            paths: [directory.root.path, directory.secret], hiddenPaths: [directory.secret]
        ).with(only: .noNewPrivileges, .files)
        let attempts = ["read:\(directory.secret)", "read:\(directory.beside)"]
        let run = try ProbeRun(policy, attempts)
        #expect(run.errors == [attempts[0]: EACCES, attempts[1]: 0])
        #expect(run.report?.limits == ["\(directory.secret) is in paths and in hiddenPaths; it is hidden."])
    }

    @Test("the report names a hidden file with another hard link")
    func hardLink() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let link = "\(directory.visible)/link"
        try FileManager.default.linkItem(atPath: directory.secret, toPath: link)
        let policy = SandboxPolicy(hiddenPaths: [directory.secret]).with(only: .noNewPrivileges, .files)
        let run = try ProbeRun(policy, ["read:\(link)"])
        #expect(run.errors == ["read:\(link)": 0])
        #expect(run.report?.limits == ["\(directory.secret) has 2 hard links; only this one is hidden."])
    }

    @Test("a directory with too many entries beside a hidden file is hidden, and the report names it")
    func manyEntries() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let gateway = directory.root.appending(path: "gateway").path
        for number in 0..<10_000 { close(open("\(gateway)/\(number)", O_CREAT | O_WRONLY, 0o600)) }
        let policy = SandboxPolicy(hiddenPaths: [directory.secret]).with(only: .noNewPrivileges, .files)
        let attempts = ["read:\(directory.beside)", "read:/etc/passwd"]
        let run = try ProbeRun(policy, attempts)
        #expect(run.errors[attempts[0]] == EACCES)
        let limits = try #require(run.report).limits
        #expect(limits.contains("\(gateway) cannot be read or has too many entries, so all of it is hidden."))
    }

    @Test("without hidden paths, only /proc and /sys are read-only, and programs cannot be started")
    func wholeFileSystem() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let policy = SandboxPolicy().with(only: .noNewPrivileges, .files)
        try expectRefusals(["write:/proc/self/comm": EACCES, "execute": EACCES, "shell": EACCES], under: policy)
        let allowed = ["read:\(directory.secret)", "write:\(directory.secret)", "read:/proc/self/comm"]
        #expect(try ProbeRun(policy, allowed).errors == Dictionary(uniqueKeysWithValues: allowed.map { ($0, 0) }))
    }
}
