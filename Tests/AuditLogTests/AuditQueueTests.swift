import AuditKit
import SigningKit
import Testing

@testable import AuditLog

@Suite("The audit queue during an outage", .timeLimit(.minutes(2)))
struct AuditQueueTests {
    private let queue = AuditQueue()
    private let entry = AuditEntry(.stop, at: Timestamp(milliseconds: 0))

    init() {
        queue.succeed(nil, hadTransaction: true)
    }

    /// Enters entries, runs `body` while they wait, and returns the error of `enter`, or nil.
    private func outcome(entries: Int = 1, answers: Int? = nil, _ body: () async -> Void) async -> AuditError? {
        await withTaskGroup(of: AuditError?.self) { group in
            group.addTask { [queue, entry] in
                do throws(AuditError) {
                    _ = try await queue.enter(.init(entries: Array(repeating: entry, count: entries)), answers: answers)
                    return nil
                } catch {
                    return error
                }
            }
            while queue.waitingCount == 0 { await Task.yield() }
            await body()
            return await group.next() ?? nil
        }
    }

    @Test("A hanging write refuses its entries once, and the queue recovers when it returns")
    func overdue() async {
        let told = await outcome {
            #expect(queue.take().entries.count == 1)
            #expect(!queue.refuseOverdue(.seconds(3600)))
            #expect(queue.refuseOverdue(.zero))
        }
        #expect(told == .overdue(.zero))
        for _ in 0..<3 { #expect(!queue.refuseOverdue(.zero), "who watches is told once") }
        #expect(!queue.condition.isWritable)
        queue.succeed(nil, hadTransaction: true)
        #expect(queue.condition.isWritable && !queue.refuseOverdue(.zero))
    }

    @Test("A failure refuses written, waiting and new entries until a transaction succeeds")
    func failure() async {
        let told = await outcome {
            _ = queue.take()
            let other = await outcome(entries: 3, answers: 2) { queue.fail(.unavailable("no disk"), keeping: []) }
            #expect(other == .unavailable("no disk"))
        }
        #expect(told == .unavailable("no disk"))
        await #expect(throws: AuditError.unavailable("no disk")) { _ = try await queue.enter(.init(entries: [entry])) }
        queue.noteRefused(1)
        // Nothing was written, so the outage may persist.
        queue.succeed(nil, hadTransaction: false)
        #expect(queue.outage?.refused == 5 && queue.outage?.lostNotes == 1)
        #expect(queue.succeed(nil, hadTransaction: true)?.refused == 5)
        #expect(queue.outage == nil && queue.condition.isWritable)
    }

    @Test("The queue keeps a limited number of events of an outage and counts the others")
    func notes() {
        queue.note(entry)
        let notes = queue.take().notes
        queue.fail(.unavailable("no disk"), keeping: notes)
        for _ in 0..<AuditQueue.noteLimit + 9 { queue.note(entry) }
        #expect(queue.outage?.lostNotes == 10)
        let taken = queue.take().notes
        #expect(taken.count == AuditQueue.noteLimit)
        queue.note(entry)
        queue.fail(.unavailable("no disk"), keeping: taken)
        #expect(queue.outage?.lostNotes == 11)
        #expect(queue.take().notes.count == AuditQueue.noteLimit)
    }
}
