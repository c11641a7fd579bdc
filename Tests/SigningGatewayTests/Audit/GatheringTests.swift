import AuditKit
import Foundation
import SigningKit
import SigningKitTesting
import Testing

@testable import SigningGateway

@Suite("What goes down together", .timeLimit(.minutes(2)))
struct GatheringTests {
    private let queue = AuditQueue()
    private let entry = AuditEntry(.stop, at: Timestamp(milliseconds: 0)).canonical

    init() {
        queue.succeed(nil, isTurn: true)
    }

    private func until(_ count: Int) async {
        while queue.waitingCount < count { await Task.yield() }
    }

    /// Puts entries into the queue, and writes them when `body` is done.
    private func entering(_ count: Int, in turns: HeldTurns? = nil, _ body: () async -> Void) async throws {
        let loop = turns.map { turns in RequestLoop(turns) { turns.add($0) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { [queue, entry] in
                    _ = try await RequestLoop.$current.withValue(loop) { try await queue.enter([entry]) }
                }
            }
            await until(count)
            await body()
            #expect(queue.take().entries.count == count)
            queue.succeed(nil, isTurn: true)
            // Those who were let go are resumed on their loop.
            turns?.run()
            try await group.waitForAll()
        }
    }

    @Test("Who comes alone waits for nobody")
    func alone() async throws {
        #expect(queue.readiness == .nothing)
        try await entering(1) { #expect(queue.readiness == .ready) }
        #expect(queue.readiness == .nothing)
    }

    @Test("What a loop brings in one turn waits for the end of that turn")
    func turn() async throws {
        let turns = HeldTurns()
        for _ in 0..<3 {
            try await entering(5, in: turns) {
                await turns.wait(for: 1)
                #expect(queue.readiness == .gathering)
                // One look at the queue for all five.
                #expect(turns.count == 1)
                turns.run()
                #expect(queue.readiness == .ready)
            }
        }
    }

    @Test("Entries wait while more are being signed than wait, and no longer when those will not come")
    func coming() async throws {
        for _ in 0..<4 { queue.expect() }
        try await entering(2) {
            #expect(queue.readiness == .gathering)
            queue.noteSigned()
            #expect(queue.readiness == .gathering)
            // Who waits is woken, and would sit there for an hour otherwise.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [queue] in
                    queue.wait(atMost: .seconds(3600), patience: .seconds(3600))
                    continuation.resume()
                }
                queue.expectNoMore()
            }
            #expect(queue.readiness == .ready)
        }
    }

    @Test("Events that nobody waits for, a probe and the end are not kept waiting")
    func unasked() {
        queue.note(entry)
        #expect(queue.readiness == .ready)
        #expect(queue.take().notes.count == 1)
        queue.succeed(nil, isTurn: true)
        #expect(queue.readiness == .nothing)
        queue.probe()
        #expect(queue.readiness == .ready)
        #expect(queue.take().isProbe)
        queue.close()
        #expect(queue.readiness == .ready)
    }

    @Test("A turn that does not end is not waited for")
    func patience() async throws {
        let turns = HeldTurns()
        try await entering(2, in: turns) {
            // It would sit here for an hour otherwise.
            queue.wait(atMost: .seconds(3600), patience: .milliseconds(1))
            #expect(queue.readiness == .gathering)
        }
    }
}

@Suite("The writer's bell", .timeLimit(.minutes(2)))
struct WriterBellTests {
    private let bell = WriterBell()
    private let clock = ContinuousClock()

    @Test("Who rings just before the writer sleeps is heard")
    func heard() {
        let asleep = clock.measure {
            bell.wait(atMost: .seconds(3600), for: .anything) {
                bell.ring()
                return false
            }
        }
        #expect(asleep < .seconds(600))
    }

    @Test("A ring that was not needed any more does not end the next sleep")
    func stale() {
        bell.wait(atMost: .seconds(3600), for: .anything) {
            bell.ring()
            return true
        }
        #expect(clock.measure { bell.wait(atMost: .milliseconds(20), for: .anything) { false } } >= .milliseconds(10))
    }

    @Test("Who waits for a whole group sleeps on when one comes, and wakes with the group")
    func group() {
        let single = clock.measure {
            bell.wait(atMost: .milliseconds(20), for: .group) {
                bell.ring(for: .anything)
                return false
            }
        }
        #expect(single >= .milliseconds(10))
        let whole = clock.measure {
            bell.wait(atMost: .seconds(3600), for: .group) {
                bell.ring()
                return false
            }
        }
        #expect(whole < .seconds(600))
    }
}
