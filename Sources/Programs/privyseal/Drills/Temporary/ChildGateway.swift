import Foundation
import Glibc
import KeyDrills

/// `privyseal serve` as a child process of this program.
final class ChildGateway: Sendable {
    private let identifier: Int32
    private let log: String
    private let ending: AsyncStream<Void>

    /// - Parameter log: a file for the output.
    init(_ arguments: [String], environment: [String: String], log: String) throws {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        process.environment = Self.environment(environment)
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log)
        else { throw DrillError("\(log) cannot be made.") }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        try? output.close()
        identifier = process.processIdentifier
        self.ending = ending
        self.log = log
    }

    static func executable() throws -> URL {
        URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    }

    /// This process' environment, without the variables that concern only this process or another gateway.
    static func environment(_ more: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment
            .filter { name, _ in
                !name.hasPrefix("PRIVYSEAL_") && !["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"].contains(name)
            }
            .merging(more) { $1 }
    }

    var isRunning: Bool { kill(identifier, 0) == 0 }

    /// The last lines of the output.
    var outputTail: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(8).joined(separator: "\n")
    }

    /// Sends SIGTERM, and after `limit` SIGKILL.
    func end(within limit: Duration = .seconds(15)) async {
        kill(identifier, SIGTERM)
        let isOver = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [ending] in
                for await _ in ending {}
                return true
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        if !isOver { kill(identifier, SIGKILL) }
    }
}
