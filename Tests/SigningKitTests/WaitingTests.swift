import SigningKit
import Synchronization
import Testing

@Suite("Threads, semaphores and events", .timeLimit(.minutes(1)))
struct WaitingTests {
    @Test("a signal before the wait is not lost")
    func earlySignal() {
        let semaphore = Semaphore()
        semaphore.signal()
        semaphore.signal()
        semaphore.wait()
        #expect(semaphore.wait(atMost: .zero))
        #expect(!semaphore.wait(atMost: .zero))
    }

    @Test("a wait with a limit ends after the limit, and not before")
    func limit() {
        let semaphore = Semaphore()
        let start = ContinuousClock.now
        #expect(!semaphore.wait(atMost: .milliseconds(30)))
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test("each signal of many threads wakes one wait")
    func manySignals() async {
        let semaphore = Semaphore()
        let (threads, signals) = (8, 500)
        for _ in 0..<threads {
            _ = SystemThread.start("test-signal") { for _ in 0..<signals { semaphore.signal() } }
        }
        await withCheckedContinuation { continuation in
            _ = SystemThread.start("test-wait") {
                for _ in 0..<threads * signals { semaphore.wait() }
                continuation.resume()
            }
        }
        #expect(!semaphore.wait(atMost: .zero))
    }

    @Test("an event resumes all waiting tasks, cancelled ones too, and later ones at once")
    func event() async {
        final class Count: Sendable {
            let value = Atomic<Int>(0)
        }
        let event = AsyncEvent()
        let resumed = Count()
        await withTaskGroup { group in
            for _ in 0..<32 {
                group.addTask {
                    await event.wait()
                    resumed.value.add(1, ordering: .relaxed)
                }
            }
            group.cancelAll()
            for _ in 0..<10 { await Task.yield() }
            #expect(resumed.value.load(ordering: .relaxed) == 0)
            event.happen()
        }
        #expect(resumed.value.load(ordering: .relaxed) == 32)
        event.happen()
        await event.wait()
    }
}
