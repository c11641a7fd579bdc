import CProcessSandbox
import Foundation
import Glibc
import ProcessSandbox
import SandboxAttempts

/// The sandboxed process.
struct ProbeChild {
    let parent: Int32

    func run(policy text: String, _ attempts: [String]) throws {
        sandbox_prepare_attempts()
        if ProcessInfo.processInfo.environment["SANDBOX_PROBE_THREAD"] != nil { Thread.detachNewThread { sleep(60) } }
        if text != "none" {
            var policy = try JSONDecoder().decode(SandboxPolicy.self, from: Data(text.utf8))
            if policy.parent == 0 { policy.parent = parent }
            let start = ContinuousClock.now
            let report = ProcessSandbox.apply(policy)
            let time = ContinuousClock.now - start
            print(line: SandboxLine(report: report, microseconds: Int(time / .microseconds(1))))
        }
        for attempt in attempts { print(line: answer(to: attempt)) }
    }

    private func answer(to attempt: String) -> AttemptLine {
        let parts = attempt.split(separator: ":", maxSplits: 1).map(String.init)
        let argument = parts.count > 1 ? parts[1] : ""
        return switch parts.first {
        case "token": AttemptLine(attempt, TokenAttempt(argument).run())
        case "value": AttemptLine(attempt, ProcessValue(rawValue: argument)?.read() ?? -1)
        // A name of a system call instead of a number
        case "system-call": AttemptLine(attempt, sandbox_attempt("call:\(seccomp_syscall_resolve_name(argument))"))
        case _: AttemptLine(attempt, sandbox_attempt(attempt))
        }
    }

    /// Writes at once: an attempt may end the process.
    private func print(line: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(line) else { return }
        FileHandle.standardOutput.write(json + Data("\n".utf8))
    }
}

struct SandboxLine: Codable {
    let report: SandboxReport
    /// The duration of `ProcessSandbox.apply`.
    let microseconds: Int
}

struct AttemptLine: Codable {
    let attempt: String
    let allowed: Bool
    /// 0 if the attempt succeeded; -1 if there is no such attempt. With `value`, the value.
    let errno: Int32

    init(_ attempt: String, _ errno: Int32) {
        self.attempt = attempt
        self.allowed = errno == 0
        self.errno = errno
    }
}
