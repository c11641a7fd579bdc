import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import GatewayHTTP

@Suite("Requests that arrive before earlier answers")
struct PipelineTests {
    @Test("After sixteen answers, a connection with further requests waits for a turn of its event loop")
    func pauses() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let pipeline = Pipeline()
        pipeline.noteRequest()
        for _ in 0..<15 { await pipeline.pause(on: loop) }
        let hasEnded = Flag()
        let pause = Task {
            await pipeline.pause(on: loop)
            hasEnded.raise()
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasEnded.isRaised)
        while !hasEnded.isRaised {
            await loop.advanceTime(by: .milliseconds(1))
            await Task.yield()
        }
        await pause.value
        await loop.shutdownGracefully()
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isRaised: Bool { value.load(ordering: .acquiring) }

        func raise() { value.store(true, ordering: .releasing) }
    }

    @Test("A connection whose requests come one by one never waits")
    func doesNotPause() async {
        let loop = NIOAsyncTestingEventLoop()
        let pipeline = Pipeline()
        for _ in 0..<100 {
            pipeline.noteRequest()
            pipeline.noteAnswer()
            await pipeline.pause(on: loop)
        }
        await loop.shutdownGracefully()
    }
}
