import ArgumentParser
import Foundation
import Signing
import StrictJSON

/// Prints the resident memory after many signatures, to show leaks.
struct Memory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the resident memory, in KiB, after 100,000 and after 1,000,000 signatures.")

    @OptionGroup var key: KeyOptions

    @Option(help: "The numbers of signatures at which memory is measured.")
    var marks: [Int] = [100_000, 1_000_000]

    func run() async throws {
        let gateway = try await BenchGateway(key, .off)
        var done = 0
        var resident: [Int] = []
        for mark in marks {
            done += try await gateway.contestant(
                "promotional-offer", BenchGateway.jwsBody, count: mark - done, callers: 64)()
            resident.append(try Self.residentKiB())
        }
        await gateway.ring.close()
        print(JSONText.string(resident))
    }

    /// `VmRSS` of proc(5).
    private static func residentKiB() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
