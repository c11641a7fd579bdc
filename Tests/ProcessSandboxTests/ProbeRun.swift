import Foundation
import Glibc
import ProcessSandbox
import ProgramTesting
import Synchronization
import Testing

/// A run of SandboxProbe: a sandbox cannot be removed, so the tests apply it to child processes.
struct ProbeRun {
    /// Nil without a policy.
    let report: SandboxReport?
    /// By attempt: 0 for success, or an errno. A process that ends early answers fewer attempts.
    let errors: [String: Int32]
    /// Lines that are not the probe's.
    let otherLines: [String]
    /// The exit status of the sandboxed process, or 128 and the number of the signal that ended it.
    let status: Int32

    /// - Parameters:
    ///   - policy: nil for no sandbox. A `parent` of 0 stands for the probe's parent.
    ///   - attempts: see SandboxAttempts.h.
    ///   - onLine: is called with the number of lines so far and the process ID of the parent.
    init(
        _ policy: SandboxPolicy?, _ attempts: [String], environment: [String: String] = [:],
        onLine: (Int, pid_t) -> Void = { _, _ in }
    ) throws {
        // Without reports of crashes, which attempts cause on purpose.
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let run = try ProgramRun(
            try Self.program(), [try policy.map(Self.json) ?? "none"] + attempts, environment: variables
        ) { output, pid in
            onLine(output.count { $0 == UInt8(ascii: "\n") }, pid)
        }
        let lines = run.output.split(separator: UInt8(ascii: "\n"))
        report = try policy.map { _ in
            try JSONDecoder().decode(SandboxLine.self, from: try #require(lines.first)).report
        }
        var errors: [String: Int32] = [:]
        var otherLines: [String] = []
        for line in lines.dropFirst(policy == nil ? 0 : 1) {
            if let answer = try? JSONDecoder().decode(AttemptLine.self, from: line) {
                errors[answer.attempt] = answer.errno
            } else {
                otherLines.append(String(decoding: line, as: UTF8.self))
            }
        }
        self.errors = errors
        self.otherLines = otherLines
        status = run.status
    }

    private struct SandboxLine: Decodable {
        let report: SandboxReport
    }

    private struct AttemptLine: Decodable {
        let attempt: String
        let errno: Int32
    }

    /// The build puts the program next to the test executable.
    private static func program() throws -> String {
        let test = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: test).deletingLastPathComponent().appending(path: "SandboxProbe").path
    }

    private static func json(_ policy: SandboxPolicy) throws -> String {
        String(decoding: try JSONEncoder().encode(policy), as: UTF8.self)
    }
}

/// Expects that each attempt fails under a policy with its errno, and that it succeeds without a sandbox.
func expectRefusals(
    _ refusals: [String: Int32], under policy: SandboxPolicy, environment: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let attempts = refusals.keys.sorted()
    // One process for each attempt without a sandbox, because an attempt may change what the next one finds.
    for attempt in attempts {
        let free = try ProbeRun(nil, [attempt], environment: environment)
        #expect(free.errors[attempt] == 0, "\(attempt), without a sandbox", sourceLocation: sourceLocation)
    }
    let run = try ProbeRun(policy, attempts, environment: environment)
    for attempt in attempts {
        #expect(run.errors[attempt] == refusals[attempt], "\(attempt)", sourceLocation: sourceLocation)
    }
}

extension SandboxPolicy {
    /// The policy with only some layers.
    func with(only layers: SandboxLayer...) -> SandboxPolicy {
        var policy = self
        policy.omittedLayers = Set(SandboxLayer.allCases).subtracting(layers)
        return policy
    }
}
