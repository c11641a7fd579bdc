import Foundation
import KeyDrills

/// Another command of this same program, run to its end.
enum ChildCommand {
    /// - Parameter environment: besides that of this process.
    /// - Returns: its status, or 128 and the number of the signal that ended it, as a shell says; and everything that it printed.
    static func run(_ arguments: [String], environment: [String: String]) async throws -> (status: Int32, text: String)
    {
        let process = Process()
        process.executableURL = try ChildGateway.executable()
        process.arguments = arguments
        process.environment = ChildGateway.environment(environment)
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        let (ending, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationStatus + ($0.terminationReason == .uncaughtSignal ? 128 : 0))
            end.finish()
        }
        try process.run()
        // Some lines: less than a pipe holds, so that nobody has to read while it runs.
        var status: Int32 = -1
        for await value in ending { status = value }
        let data = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        return (status, String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// - Throws: `DrillError` with what it said, unless its status is 0.
    @discardableResult
    static func done(_ arguments: [String], environment: [String: String]) async throws -> String {
        let (status, text) = try await run(arguments, environment: environment)
        guard status == 0 else {
            throw DrillError("privyseal \(arguments.prefix(2).joined(separator: " ")) ended with \(status): \(text)")
        }
        return text
    }
}
