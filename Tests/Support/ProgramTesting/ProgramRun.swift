package import Foundation
import Glibc

/// A program that a test has run to its end.
///
/// Foundation's `Process` starts a program with the blocked signals of the calling thread, and removes it from the process
/// table by a run loop of its own, some time after its end.
package struct ProgramRun {
    package let output: Data
    package let errors: Data
    /// The exit status, or 128 and the number of the signal that ended the program.
    package let status: Int32

    /// - Parameters:
    ///   - program: the path.
    ///   - environment: nil for that of this process.
    ///   - input: what the program can read from its standard input.
    ///   - onOutput: is called after each part of the output, with the output so far and the process ID.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil, input: Data = Data(),
        onOutput: (Data, pid_t) -> Void = { _, _ in }
    ) throws {
        let standardInput = try Self.temporaryFile(), standardError = try Self.temporaryFile()
        defer { fclose(standardInput) }
        defer { fclose(standardError) }
        _ = input.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, standardInput) }
        rewind(standardInput)

        let pipe = Pipe()
        let pid = try Program.spawn(
            [program] + arguments, environment ?? ProcessInfo.processInfo.environment,
            descriptors: [
                fileno(standardInput), pipe.fileHandleForWriting.fileDescriptor, fileno(standardError),
            ])
        try pipe.fileHandleForWriting.close()
        var output = Data()
        while case let part = pipe.fileHandleForReading.availableData, !part.isEmpty {
            output += part
            onOutput(output, pid)
        }
        self.output = output
        status = Program.wait(for: pid)
        rewind(standardError)
        errors = FileHandle(fileDescriptor: fileno(standardError), closeOnDealloc: false).readDataToEndOfFile()
    }

    private static func temporaryFile() throws -> UnsafeMutablePointer<FILE> {
        guard let file = tmpfile() else { throw ProgramError("tmpfile failed: errno \(errno)") }
        return file
    }
}

package struct ProgramError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
