import ArgumentParser
import Foundation
import Glibc

/// The disk's share of an audit entry: paced writes, each made durable as in a commit.
struct BareSync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Writes and synchronizes a file at a fixed rate.",
        discussion:
            "Prints a line when it begins, continues until its input ends or has a line, and prints the measured rate.")

    @Option(help: "The file, which is created; it should be on the audit log's file system.")
    var file: String

    @Option(help: "Times per second; fewer if the disk is slower.")
    var rate: Double

    @Option(help: "Bytes per write.")
    var bytes: Int

    /// In bytes, as `keptLogSize` of the write-ahead log. A file that does not grow synchronizes in half the time.
    private static let room = 32 << 20

    func run() throws {
        guard rate > 0, bytes > 0, bytes <= Self.room else { throw ValidationError("There is nothing to write.") }
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ValidationError("\(file) cannot be written.") }
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: Self.room)
        guard pwrite(descriptor, zeros, Self.room, 0) == Self.room, fsync(descriptor) == 0 else {
            throw ValidationError("\(file) cannot be written.")
        }
        print("ready")
        fflush(nil)
        let begun = ContinuousClock.now
        var next = begun
        var count = 0
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, 0) == 0 {
            let offset = count % (Self.room / bytes) * bytes
            guard pwrite(descriptor, zeros, bytes, offset) == bytes, fdatasync(descriptor) == 0 else {
                throw ValidationError("\(file) cannot be synchronized.")
            }
            count += 1
            // Do not catch up after a late write: a commit happens only when there is something to write.
            next = max(next + .seconds(1 / rate), .now)
            Thread.sleep(forTimeInterval: (next - .now) / .seconds(1))
        }
        print(Double(count) / ((.now - begun) / .seconds(1)))
    }
}
