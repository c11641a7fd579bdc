import Foundation
import Glibc
import ProcessSandbox
import SoftHSMTesting
import Testing

/// The actions of FaultyPKCS11, as those of a hostile or broken library in a sandbox.
@Suite("A faulty library in the sandbox", .softHSM)
struct FaultyLibraryTests {
    @Test(
        "the library ends the process, with and without a sandbox",
        arguments: [
            ("segv", 128 + SIGSEGV), ("bus", 128 + SIGBUS), ("abort", 128 + SIGABRT), ("kill", 128 + SIGKILL),
            ("stack", 128 + SIGSEGV), ("heap", 128 + SIGABRT), ("_exit=3", 3),
        ])
    func endings(_ action: String, _ status: Int32) throws {
        let library = try FaultyLibrary("C_FindObjectsInit \(action)")
        for policy in [SandboxPolicy(parent: 0), nil] {
            let run = try library.run(policy)
            #expect(run.status == status)
            #expect(run.errors.isEmpty)
        }
        let line = "C_FindObjectsInit \(action) -"
        #expect(library.results == [line, line])
    }

    @Test(
        "the sandbox refuses what the library attempts while it signs, and the signature succeeds",
        arguments: [
            ("socket:inet", EPERM), ("trace-parent", EPERM), ("shell", EPERM), ("fork", EPERM), ("io-uring", EPERM),
            ("signal-parent:0", EPERM),
        ])
    func attempts(_ attempt: String, _ error: Int32) throws {
        let library = try FaultyLibrary("C_Sign try=\(attempt)")
        #expect(try library.run(SandboxPolicy(parent: 0)).errors == [library.attempt: 0])
        #expect(try library.run(nil).errors == [library.attempt: 0])
        #expect(library.results == ["C_Sign try=\(attempt) \(error)", "C_Sign try=\(attempt) 0"])
    }

    @Test("the library cannot read a hidden file")
    func hiddenFile() throws {
        let directory = try SandboxDirectory()
        defer { directory.remove() }
        let library = try FaultyLibrary("C_Sign try=read:\(directory.secret)")
        let policy = SandboxPolicy(hiddenPaths: [directory.secret], parent: 0)
        #expect(try library.run(policy).errors == [library.attempt: 0])
        #expect(library.results == ["C_Sign try=read:\(directory.secret) \(EACCES)"])
    }

    @Test("the library gets no memory beyond the limit")
    func leak() throws {
        let library = try FaultyLibrary("C_Sign leak=300")
        _ = try library.run(SandboxPolicy(memoryLimit: 256 << 20, parent: 0))
        #expect(try library.run(nil).errors == [library.attempt: 0])
        #expect(library.results == ["C_Sign leak=300 \(ENOMEM)", "C_Sign leak=300 0"])
    }

    @Test("the library changes its process, and the signature succeeds")
    func changes() throws {
        let actions = ["umask", "cwd", "handlers", "ignore-term"]
        let library = try FaultyLibrary("C_Sign \(actions.joined(separator: " "))")
        #expect(try library.run(SandboxPolicy(parent: 0)).errors == [library.attempt: 0])
        #expect(library.results == actions.map { "C_Sign \($0) 0" })
    }

    @Test("the library writes to all descriptors and closes them")
    func descriptors() throws {
        let library = try FaultyLibrary("C_Sign write-descriptors close-descriptors")
        let run = try library.run(SandboxPolicy(parent: 0))
        #expect(run.otherLines.contains("FaultyPKCS11 writes to every descriptor"))
        #expect(library.results.last == "C_Sign close-descriptors 0")
    }

    @Test("the library hangs, and works again in a new process after the rules changed")
    func hang() throws {
        let library = try FaultyLibrary("C_Sign hang")
        let run = try library.run(SandboxPolicy(parent: 0)) { lines, parent in
            guard lines == 1 else { return }
            while library.results.isEmpty { usleep(1000) }
            kill(parent, SIGKILL)
        }
        #expect(run.errors.isEmpty)
        #expect(library.results == ["C_Sign hang -"])
        try library.module.fresh()
        #expect(try library.run(SandboxPolicy(parent: 0)).errors == [library.attempt: 0])
    }
}
