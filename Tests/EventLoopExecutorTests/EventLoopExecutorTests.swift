import EventLoopExecutor
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Each in a process of its own: what is installed stays installed.
@Suite("Event loops as executor")
struct EventLoopExecutorTests {
    @Test("Tasks run on event loops, and it is done once")
    func installed() async {
        await #expect(processExitsWith: .success) {
            #expect(EventLoopExecutor.install())
            #expect(!EventLoopExecutor.install())
            for _ in 0..<100 {
                let isOnLoop = await Task.detached { MultiThreadedEventLoopGroup.currentEventLoop != nil }.value
                #expect(isOnLoop)
            }
        }
    }

    @Test("A task goes on through asynchronous calls without a way through its loop's queue")
    func goesOn() async {
        await #expect(processExitsWith: .success) {
            EventLoopExecutor.install()
            let wasOvertaken = await Task.detached {
                guard let loop = Self.loop() else { return true }
                let flag = Flag()
                loop.execute { flag.raise() }
                for _ in 0..<1000 { await Self.nothing() }
                return flag.isUp
            }.value
            #expect(!wasOvertaken)
        }
    }

    @Test("Who waits for another task is resumed on an event loop")
    func resumed() async {
        await #expect(processExitsWith: .success) {
            EventLoopExecutor.install()
            let isOnLoop = await Task.detached {
                await withCheckedContinuation { continuation in
                    Task.detached { continuation.resume() }
                }
                return MultiThreadedEventLoopGroup.currentEventLoop != nil
            }.value
            #expect(isOnLoop)
        }
    }

    @inline(never)
    private static func nothing() async {}

    private static func loop() -> (any EventLoop)? { MultiThreadedEventLoopGroup.currentEventLoop }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isUp: Bool { value.load(ordering: .relaxed) }
        func raise() { value.store(true, ordering: .relaxed) }
    }
}
