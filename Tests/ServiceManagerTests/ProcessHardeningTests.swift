import Glibc
import ServiceManager
import Testing

/// Hardening cannot be undone, so the tests apply it to child processes. `scripts/test` runs them in a process of their own.
@Suite("Process hardening")
struct ProcessHardeningTests {
    @Test("apply puts every measure in force and can run twice")
    func everyMeasure() async throws {
        await #expect(processExitsWith: .success) {
            umask(0)
            try #require(try Kernel.isDumpable())
            #expect(ProcessHardening.apply().isEmpty)
            #expect(ProcessHardening.apply().isEmpty)
            #expect(try !Kernel.isDumpable())
            #expect(umask(0) == 0o077)
        }
    }

    @Test("the limits match what the kernel reports")
    func limits() async throws {
        await #expect(processExitsWith: .success) {
            var low = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &low) == 0)
            low.rlim_cur = 64
            try #require(low.rlim_max > 64)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &low) == 0)
            _ = ProcessHardening.apply()
            let limits = try ProcFile.lines(of: "/proc/self/limits")
            let core = try #require(limits.first { $0.hasPrefix("Max core file size") })
            #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            let files = try #require(limits.first { $0.hasPrefix("Max open files") }).split(separator: " ")
            #expect(files[3] == "\(low.rlim_max)")
            #expect(files[3] == files[4])
            let status = try ProcFile.lines(of: "/proc/self/status")
            #expect(status.contains("Umask:\t0077"))
        }
    }

    @Test("a process that is not dumpable can count its descriptors and its memory")
    func ownMeasurements() async throws {
        await #expect(processExitsWith: .success) {
            _ = ProcessHardening.apply()
            // Run as the service's user, which may not read the files that now belong to root.
            if getuid() == 0 {
                try #require(setgid(65534) == 0)
                try #require(setuid(65534) == 0)
            }
            try #require(ProcessHardening.apply().isEmpty)
            let directory = try #require(opendir("/proc/self/fd"))
            #expect(readdir(directory) != nil)
            closedir(directory)
            #expect(try !ProcFile.lines(of: "/proc/self/statm").isEmpty)
            #expect(try !ProcFile.lines(of: "/proc/self/stat").isEmpty)
        }
    }
}

enum Kernel {
    /// `PR_GET_DUMPABLE`. Swift cannot call prctl(2), which is variadic, by its name.
    static func isDumpable() throws -> Bool {
        typealias Function = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        let prctl = unsafeBitCast(try #require(dlsym(nil, "prctl")), to: Function.self)
        return prctl(3, 0, 0, 0, 0) != 0
    }
}

enum ProcFile {
    struct Unreadable: Error {
        let path: String
        let errno: Int32
    }

    static func lines(of path: String) throws -> [String] {
        guard let file = fopen(path, "r") else { throw Unreadable(path: path, errno: errno) }
        defer { fclose(file) }
        var text: [UInt8] = []
        var character = fgetc(file)
        while character != EOF {
            text.append(UInt8(truncatingIfNeeded: character))
            character = fgetc(file)
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
