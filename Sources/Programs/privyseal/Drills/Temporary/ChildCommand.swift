import Foundation
import KeyDrills

/// Runs a command of this program to its end.
enum ChildCommand {
    /// - Parameter environment: variables besides those of this process.
    /// - Returns: the exit status, or as in a shell 128 plus the signal's number; and all output.
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
        // The output is a few lines, less than a pipe holds, so it is read after the process ends.
        var status: Int32 = -1
        for await value in ending { status = value }
        let data = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        return (status, String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// - Throws: `DrillError` with the output, unless the status is 0.
    @discardableResult
    static func done(_ arguments: [String], environment: [String: String]) async throws -> String {
        let (status, text) = try await run(arguments, environment: environment)
        guard status == 0 else {
            throw DrillError("privyseal \(arguments.prefix(2).joined(separator: " ")) ended with \(status): \(text)")
        }
        return text
    }
}
