import Foundation
import Glibc
import KeyDrills

/// A command of this program as a child process.
struct ChildProcess: Sendable {
    private let process = Process()
    private let log: String

    /// - Parameter log: a file for all output.
    init(_ arguments: [String], log: String) throws {
        self.log = log
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
        else { throw DrillError("\(log) cannot be made.") }
        process.executableURL = URL(
            filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = arguments
        // Without the variables that concern only this process or another gateway.
        process.environment = ProcessInfo.processInfo.environment.filter { name, _ in
            !name.hasPrefix("PRIVYSEAL_") && !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains(name)
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try? output.close()
    }

    var isRunning: Bool { process.isRunning }

    var output: String {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits for the end of the process, also in a cancelled task: the caller removes the files of the process next.
    ///
    /// - Parameter limit: the time after which the process gets SIGKILL; nil for none.
    /// - Returns: the exit status, or as in a shell 128 plus the signal's number.
    @discardableResult
    func wait(_ limit: Duration? = nil) async -> Int32 {
        await Task {
            let end = limit.map { ContinuousClock.now + $0 }
            while process.isRunning {
                if let end, ContinuousClock.now >= end { kill(process.processIdentifier, SIGKILL) }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }.value
        return process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
    }

    /// Sends SIGTERM, and later SIGKILL if needed. On return, the process has ended.
    func end() async {
        process.terminate()
        await wait(.seconds(15))
    }
}
