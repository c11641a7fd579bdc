import AuditKit
import Foundation
import SigningKit
import Testing

@testable import AuditLog

@Suite("The queue of audit entries", .timeLimit(.minutes(2)))
struct GroupCommitTests {
    private let queue = AuditQueue()
    private let entry = AuditEntry(.stop, at: Timestamp(milliseconds: 0))

    init() {
        queue.succeed(nil, hadTransaction: true)
    }

    /// Runs the writer's `wait` on a thread, because it blocks.
    private func waitForWriter() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [queue] in
                // An hour: without a signal, the time limit of the suite ends the test.
                queue.wait(atMost: .seconds(3600))
                continuation.resume()
            }
        }
    }

    @Test("All entries that wait form one group, and each call returns after its transaction", arguments: [1, 5])
    func group(_ count: Int) async throws {
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { [queue, entry] in _ = try await queue.enter(.init(entries: [entry])) }
                }
                while queue.waitingCount < count { await Task.yield() }
                await waitForWriter()
                #expect(queue.take().entries.count == count)
                queue.succeed(nil, hadTransaction: true)
                try await group.waitForAll()
            }
        }
    }

    @Test("An entry that arrives during a transaction is part of the next one")
    func next() async throws {
        async let first = queue.enter(.init(entries: [entry]))
        await waitForWriter()
        #expect(queue.take().entries.count == 1)
        async let second = queue.enter(.init(entries: [entry, entry]))
        await waitForWriter()
        queue.succeed(nil, hadTransaction: true)
        _ = try await first
        #expect(queue.take().entries.count == 2)
        queue.succeed(nil, hadTransaction: true)
        _ = try await second
    }

    @Test("A note, a probe and the end wake the writer")
    func withoutCalls() async {
        queue.note(entry)
        await waitForWriter()
        #expect(queue.take().notes.count == 1)
        queue.succeed(nil, hadTransaction: true)
        queue.probe()
        await waitForWriter()
        #expect(queue.take().isProbe)
        queue.close()
        await waitForWriter()
        #expect(queue.isClosed)
    }
}
