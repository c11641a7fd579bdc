import ArgumentParser
import AuditKit
import AuditLog
import Crypto
import Foundation
import Logging
import SQLiteAuditStore
import SigningKit
import Synchronization
import TransparencyLog

/// Creates an audit log of one month through the gateway's own writer.
struct AuditLogFill: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger", abstract: "Fills an audit log with signatures of 30 days.")

    @Option(help: "The database, which must not exist yet; the key is stored next to it.")
    var database: String

    @Option(help: "The number of signatures.")
    var count: Int

    @Option(help: "A file for checkpoints over every second entry.")
    var checkpoints: String?

    /// The signatures are spread over the last 30 days.
    private static let days = 30
    private static let writers = 512

    func run() async throws {
        // The clock below jumps, which the log would report.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let clock = Clock()
        let end = Timestamp.now().milliseconds
        let step = Int64(Self.days * 86_400_000 / max(1, count))
        let begin = end - step * Int64(count)
        let filled = try BenchLog(database) { Timestamp(milliseconds: begin + clock.next() * step) }
        let (log, signer) = (filled.log, filled.signer)
        let isWritten = FileManager.default.createFile(
            atPath: database + ".key", contents: Data("\(signer.text)\n".utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw CocoaError(.fileWriteUnknown) }
        try "\(signer.verifier.text)\n".write(toFile: database + ".key.pub", atomically: true, encoding: .utf8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<Self.writers {
                group.addTask { [count] in
                    for number in stride(from: first, to: count, by: Self.writers) {
                        try await log.record(Self.signature(number))
                    }
                }
            }
            try await group.waitForAll()
        }
        await log.close()
        if let checkpoints { try writeCheckpoints(checkpoints, signer) }
    }

    /// Writes a checkpoint for every second entry. A million entries give as many as one year publishes.
    private func writeCheckpoints(_ path: String, _ signer: NoteSigner) throws {
        let reader = try SQLiteAuditStore.read(at: AuditLocation(database))
        defer { reader.close() }
        var tree = AppendOnlyTree()
        var texts: [String] = []
        try reader.entries(in: 0..<count) { entry in
            tree.append(MerkleHash.leaf(entry.body))
            if tree.size.isMultiple(of: 2),
                let checkpoint = try? Checkpoint(origin: signer.name, size: tree.size, root: tree.root),
                let note = try? signer.sign(checkpoint.text)
            {
                texts.append(NoteList.text(of: note))
            }
            return true
        }
        try texts.joined().write(toFile: path, atomically: true, encoding: .utf8)
    }

    private final class Clock: Sendable {
        private let calls = Atomic<Int64>(0)

        func next() -> Int64 { calls.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    /// 70 % of the entries name one of 5 products, the others one of 199: few products sell well.
    static func signature(_ number: Int) -> AuditEvent {
        let product = number % 10 < 7 ? number % 5 : number % 199
        return .signature(
            client: ["shop", "support", "web"][number % 3], app: "com.example.app", feature: "promotional-offer",
            keyID: "2X9R4HXF34", fingerprint: Array("CUrONARA7wFoqq147j0ibkTCI-wzq6cQnY1M7e1qmpM".utf8),
            tokenSerial: "d2f1b07c5e9a4c31",
            subject: OfferSubject(
                products: ["com.example.app.product\(product)"], offers: ["winback.\(number % 4)months"]),
            user: Array("q8VxTnY0R2mWc1bZ4hKe9w".utf8), digest: SHA256.hash(data: Array("\(number)".utf8)),
            issued: .now(), expires: nil, nonce: Nonce(random: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, UInt64(number)),
            requestID: "9f86d081884c7d65" + String(format: "%012x", number), item: nil, keyMicroseconds: 45,
            requestMicroseconds: 120)
    }
}
