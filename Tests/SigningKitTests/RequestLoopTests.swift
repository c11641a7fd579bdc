import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@Suite("The loop of a request")
struct RequestLoopTests {
    private let turns = HeldTurns()

    @Test("Who keeps step goes on behind everything that its loop has at hand")
    func keepsStep() async {
        let order = Mutex<[String]>([])
        let loop = RequestLoop(turns) { turns.add($0) }
        loop.afterTurn { order.withLock { $0.append("at hand") } }
        await RequestLoop.$current.withValue(loop) {
            async let step: Void = RequestLoop.keepStep()
            await turns.wait(for: 2)
            turns.run()
            await step
        }
        order.withLock { $0.append("behind it") }
        #expect(order.withLock { $0 } == ["at hand", "behind it"])
    }

    @Test("Where there is no loop, nobody waits")
    func noLoop() async {
        #expect(RequestLoop.current == nil)
        await RequestLoop.keepStep()
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
