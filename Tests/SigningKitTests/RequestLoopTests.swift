import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@Suite("The loop of a request", .timeLimit(.minutes(2)))
struct RequestLoopTests {
    private let turns = HeldTurns()

    private final class Order: Sendable {
        private let steps = Mutex<[String]>([])
        var all: [String] { steps.withLock { $0 } }
        func add(_ step: String) { steps.withLock { $0.append(step) } }
    }

    @Test("Who keeps step goes on behind everything that its loop has at hand")
    func keepsStep() async {
        let order = Order()
        let loop = RequestLoop(turns) { turns.add($0) }
        loop.afterTurn { order.add("at hand") }
        await RequestLoop.$current.withValue(loop) {
            async let step: Void = {
                await loop.keepStep()
                order.add("behind it")
            }()
            await turns.wait(for: 2)
            #expect(order.all.isEmpty)
            turns.run()
            await step
        }
        #expect(order.all == ["at hand", "behind it"])
    }

    @Test("Those who wait are resumed with one wake-up for each of their loops, and at once where they have none")
    func resumes() {
        let other = HeldTurns()
        let loops = [RequestLoop(turns) { turns.add($0) }, RequestLoop(other) { other.add($0) }]
        let resumed = Mutex<[[Int]]>([])
        RequestLoop.resume(Array(0..<6), from: { $0 == 5 ? nil : loops[$0 % 2] }) { waiters in
            resumed.withLock { $0.append(waiters) }
        }
        #expect(resumed.withLock { $0 } == [[5]])
        #expect(turns.count == 1 && other.count == 1)
        turns.run()
        other.run()
        #expect(resumed.withLock { $0 } == [[5], [0, 2, 4], [1, 3]])
    }
}
